// Phone numbers in E.164 form, as in auditor_client/audiences/phone_numbers.py: exactly one reading must be in use.
// tests/vectors/phones.json tests both. The full metadata ("max") are used: smaller sets have fewer plans.

import "./vendor/libphonenumber-max.js";

const { Metadata, isSupportedCountry, getCountryCallingCode, parsePhoneNumberFromString } =
  globalThis.libphonenumber;

// Full-width, Arabic and Persian digits, which both libraries know in addition to ASCII.
const FOREIGN = /[\uff10-\uff19\u0660-\u0669\u06f0-\u06f9]/g;
const SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const INVISIBLE = "\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060\\ufeff";
const SEPARATOR = new RegExp(`[${SPACE}${INVISIBLE}().\\-/\\u2010-\\u2015\\u2212]`, "g");
const EDGES = new RegExp(`^[${SPACE}]+|[${SPACE}]+$`, "g");
// A zero in brackets means: leave it out after a country code.
const OPTIONAL_ZERO = new RegExp(`\\([${SPACE}]*0[${SPACE}]*\\)`, "g");
// "030 123456/57" lists two numbers; "0151/1234567" is one.
const SECOND_NUMBER = /\/[^0-9]*([0-9][^0-9]*){0,3}$|\/[^]*\//;
// Calling code 1 never assigns area 555, so simulated people have such numbers.
const FICTION = /^\+1555[0-9]{7}$/;
const LONGEST = 40;

export function e164(text, country) {
  const code = country ? callingCode(country) : null;
  const written = text.replace(FOREIGN, (digit) => digit.charCodeAt(0) & 15).replaceAll("\uff0b", "+");
  if (Array.from(written).length > LONGEST || SECOND_NUMBER.test(written)) {
    throw new Error("more than one phone number, or too long for one");
  }
  const said = readings(written, code);
  const numbers = new Set(said.map(parse).filter(inUse).map((found) => found.number));
  if (numbers.size > 1 || (numbers.size && isGuess(said[0], numbers))) {
    throw new Error("it can be read as two phone numbers; write it with + and calling code");
  }
  if (!numbers.size) {
    throw new Error("not a phone number in use; check its digits and its calling code");
  }
  return [...numbers][0];
}

// Return the calling code of a country, given by calling code or region.
function callingCode(country) {
  const name = country.replace(EDGES, "");
  const code = /^\+?([1-9][0-9]{0,2})$/.exec(name)?.[1];
  if (code && new Metadata().getCountryCodeForCallingCode(code)) return code;
  if (!code && isSupportedCountry(name.toUpperCase())) return getCountryCallingCode(name.toUpperCase());
  throw new Error("not a country; write a calling code (+44) or region (GB)");
}

// Return the possible readings, as calling code and national number; the stated one first.
function readings(written, code) {
  const kept = compact(written.replace(OPTIONAL_ZERO, "0"));
  const dropped = compact(written.replace(OPTIONAL_ZERO, ""));
  if (kept.startsWith("+")) return [kept.slice(1), dropped.slice(1)];
  const found = [];
  // Where people dial 00 before a calling code, no national number begins with it.
  const abroad = code && kept.startsWith("00") && dials00(code);
  if (code && !abroad) found.push(code + kept);
  if (code && kept.startsWith(code)) found.push(kept);
  if (kept.startsWith("00")) found.push(kept.slice(2), dropped.slice(2));
  if (!found.length) throw new Error("a phone number without a country; give the calling code");
  return found;
}

function dials00(code) {
  const plan = new Metadata();
  plan.selectNumberingPlan(plan.getCountryCodeForCallingCode(code));
  return plan.numberingPlan.IDDPrefix() === "00";
}

function compact(written) {
  const found = written.replace(SEPARATOR, "");
  if (!/^\+?[0-9]+$/.test(found)) {
    throw new Error("not a phone number; write digits only, without an extension");
  }
  return found;
}

const parse = (digits) => parsePhoneNumberFromString(`+${digits}`, { extract: false });

const inUse = (found) => found && (found.isValid() || FICTION.test(found.number));

// Return whether the stated number may be in use by a plan that is newer than the library.
function isGuess(digits, numbers) {
  const stated = parse(digits);
  return Boolean(stated && !numbers.has(stated.number) && stated.isPossible());
}
