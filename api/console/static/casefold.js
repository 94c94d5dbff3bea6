// Unicode case folding (Python's str.casefold) of text in normal form KC, which JavaScript lacks.

// Letters that fold to the lower case of their upper case, instead of to their lower case.
const BY_UPPER = /[\u00df\u01f0\u0345\u0390\u03b0\u03c2\u1c80-\u1c88\u1e96-\u1e99\u1e9e\u1f50-\u1fff]/u;
// Cherokee folds to upper case.
const CHEROKEE = /[\u13a0-\u13fd\uab70-\uabbf]/u;

export const casefold = (text) => Array.from(text, fold).join("");

// Letter by letter, because JavaScript lowers a final sigma differently.
function fold(letter) {
  if (CHEROKEE.test(letter)) return letter.toUpperCase();
  if (BY_UPPER.test(letter)) return Array.from(letter.toLowerCase().toUpperCase(), lower).join("");
  return lower(letter);
}

const lower = (letter) => letter.toLowerCase();
