// Phone numbers in E.164 form, or a refusal, as auditor_client/phones.py: a guess would match
// another person.

const SEPARATORS = /[\s\x1c-\x1f\x85().\-/\u2010-\u2015\u00a0]/gu;
const E164 = /^\+[1-9][0-9]{6,14}$/;
const NORTH_AMERICA = "1";
// Calling codes of countries where a national number is dialled with a 0 that E.164 drops.
const TRUNK_ZERO = new Set([
  20, 27, 30, 31, 32, 33, 40, 41, 43, 44, 46, 49, 60, 61, 62, 63, 64, 66, 81, 82, 84, 86, 90, 91,
  92, 94, 98, 212, 213, 233, 234, 251, 254, 255, 256, 353, 355, 358, 359, 380, 381, 385, 386, 389,
  421, 880, 961, 962, 966, 971, 972,
]);

export function e164(text, country) {
  let compact = text.replace(SEPARATORS, "");
  if (compact.startsWith("00")) compact = `+${compact.slice(2)}`;
  const number = compact.startsWith("+") ? compact : international(compact, country);
  if (!E164.test(number)) throw new Error("not a phone number");
  return number;
}

function international(national, country) {
  if (!country) throw new Error("a phone number without a country; give the calling code");
  const found = /^\+?([1-9][0-9]{0,2})$/.exec(country.trim());
  if (!found) throw new Error("not a country calling code; write it like +44");
  const code = found[1];
  if (code === NORTH_AMERICA) return northAmerican(national);
  if (national.startsWith("0")) {
    if (!TRUNK_ZERO.has(Number(code))) {
      throw new Error(`a leading 0 is ambiguous in +${code}; write the number with its +`);
    }
    return `+${code}${national.slice(1)}`;
  }
  if (national.startsWith(code)) {
    throw new Error(`it starts with ${code} but without +; write the number with its +`);
  }
  return `+${code}${national}`;
}

// Ten digits, or eleven with the trunk prefix 1.
function northAmerican(national) {
  const digits = national.replace(/^1/, "");
  if (!/^[0-9]{10}$/.test(digits)) {
    throw new Error("a number in +1 has ten digits; write the number with its +");
  }
  return `+1${digits}`;
}
