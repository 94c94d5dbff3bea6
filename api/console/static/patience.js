// Requests that are retried a few times while the service is busy, after the time that it states.

const ATTEMPTS = 20;
const BUSY = 503;

// `wanted` returns whether somebody still waits for the answer.
export async function fetchPatiently(address, type, wanted) {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(address, { headers: { Accept: type } });
    const seconds = Number(response.headers.get("Retry-After"));
    if (response.status !== BUSY || !seconds || attempt === ATTEMPTS) return response;
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    if (!wanted()) return response;
  }
}
