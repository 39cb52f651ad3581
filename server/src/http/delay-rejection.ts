import { closeConnection } from './keep-alive'

/** The event loop's time, by owner. */
interface Shares {
  shareOf: (owner: string) => { spend: (ms: number, kind: 'idle') => Promise<void> | undefined }
}

/** The cost of a rejection in milliseconds, and of each byte of its body that was read. */
const refusalMs = 0.2
const byteMs = 4e-6
/** No route reads a longer body. */
const maxBodyBytes = 32 * 1024 * 1024

interface RejectedRequest {
  request: { readonly headers: Pick<Headers, 'get'>; readonly bodyUsed: boolean }
  /** The account that sent it, where known. */
  owner: string | undefined
  address: () => string
}

/** An error in a stream marks itself as not retryable, too. */
const isRefusal = ({ status, headers }: Response): boolean =>
  (status >= 400 && status < 500) || (status === 200 && headers.get('x-should-retry') === 'false')

/**
 * Delays a rejection while its account, or else its address, has had too many: a storm of rejected requests must
 * not take the time of those that are served. The first few hundred a second are not delayed. Beyond a bound the
 * connection is closed with the answer.
 */
export async function delayRejection(
  response: Response,
  { request, owner, address }: RejectedRequest,
  loopShares: Shares,
): Promise<void> {
  if (!isRefusal(response)) return
  // An announced body that was not read has cost nothing: it is dropped as it arrives.
  const announced = request.bodyUsed ? Number(request.headers.get('content-length') ?? 0) : 0
  const bytes = Number.isFinite(announced) ? Math.min(Math.max(0, announced), maxBodyBytes) : 0
  const ms = refusalMs + bytes * byteMs
  try {
    await loopShares.shareOf(owner ?? `address ${address()}`).spend(ms, 'idle')
  } catch {
    closeConnection(response.headers)
  }
}
