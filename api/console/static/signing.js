// Signing of a form with a key file, in this browser. The key is read, used and dropped, never sent.

import { condensed, digest, payload, sign, stated } from "./statements.js";

export async function keyOf(file) {
  let jwk;
  try {
    jwk = JSON.parse(await file.text());
  } catch {
    throw new Error("This file is not a key. Choose the .jwk file from auditor key new.");
  }
  if (jwk?.kty !== "OKP" || jwk.crv !== "Ed25519" || typeof jwk.d !== "string") {
    throw new Error("This file has no private Ed25519 key. For other keys use the auditor command.");
  }
  return jwk;
}

// A form with `data-sign` has the fields `request` (JSON), `key` and `signature`, and a file input.
export function signOnSubmit(form) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const status = form.querySelector("[data-status]");
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      const jwk = await keyOf(form.querySelector("input[type=file]").files[0]);
      const { origin, by, action } = form.dataset;
      const request = JSON.parse(form.elements.request.value);
      await checkRead(form, request);
      const body = action === "charge" ? await condensed(request) : await stated(request);
      const signed = payload(origin, action, by, form.elements.key.value, body);
      form.elements.signature.value = await sign(signed, jwk);
      form.submit();
    } catch (error) {
      status.textContent = error.message;
      button.disabled = false;
    }
  });
}

// Check that an approval has the digest of the application's text on this page.
async function checkRead(form, request) {
  const read = form.querySelector("script[data-read]");
  if (!read) return;
  if ((await digest(await stated(JSON.parse(read.textContent)))) !== request.application_digest) {
    throw new Error("The application on this page is not the one that would be approved. Nothing was signed.");
  }
}
