// Parser of CSV as in RFC 4180: rows of fields, which may be quoted.

export function parseCsv(text) {
  const rows = [];
  let row = [];
  let field = "";
  let quoted = false;
  const source = text.replace(/^\ufeff/, "");
  for (let at = 0; at < source.length; at += 1) {
    const sign = source[at];
    if (quoted) {
      if (sign !== '"') field += sign;
      else if (source[at + 1] === '"') {
        field += '"';
        at += 1;
      } else quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === ",") {
      row.push(field);
      field = "";
    } else if (sign === "\n" || sign === "\r") {
      if (sign === "\r" && source[at + 1] === "\n") at += 1;
      rows.push([...row, field]);
      row = [];
      field = "";
    } else field += sign;
  }
  if (quoted) throw new Error("The file ends within quotation marks.");
  if (field || row.length) rows.push([...row, field]);
  return rows.filter((each) => each.length > 1 || each[0] !== "");
}
