import type { Egress } from './egress'

const timeoutMs = 20_000
const maxBytes = 8 * 1024 * 1024

/** Fetches a text from a URL that the operator named. Rejects on a timeout, and for a text that is too long. */
export const documentFetcher =
  (egress: Pick<Egress, 'send'>) =>
  async (url: string): Promise<{ status: number; text: string }> => {
    const answer = await egress.send({
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
      owner: null,
    })
    return { status: answer.status, text: await answer.text(maxBytes) }
  }
