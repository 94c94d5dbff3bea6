// Asks again, a few times, where the service is busy and says when to come back.

const ATTEMPTS = 20;
const BUSY = 503;

// `wanted` says whether somebody still waits for the answer.
export async function fetchPatiently(address, type, wanted) {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(address, { headers: { Accept: type } });
    const seconds = Number(response.headers.get("Retry-After"));
    if (response.status !== BUSY || !seconds || attempt === ATTEMPTS) return response;
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    if (!wanted()) return response;
  }
}
