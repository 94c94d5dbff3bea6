// Instants in the reader's own time zone.

const style = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export const inZone = (at) => style.format(at);
