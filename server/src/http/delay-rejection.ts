/** The event loop's time, by owner. */
interface Shares {
  shareOf: (owner: string) => { spend: (ms: number, kind: 'idle') => Promise<void> | undefined }
}

/** What a refusal costs, in milliseconds, and each byte of a body that was read for it. */
const refusalMs = 0.2
const byteMs = 4e-6
/** No route reads more. */
const maxBodyBytes = 32 * 1024 * 1024

interface Refused {
  request: { readonly headers: Pick<Headers, 'get'>; readonly bodyUsed: boolean }
  /** The account that sent it, where that is known. */
  owner: string | undefined
  address: () => string
}

/** One that is told in a stream says that it is none to repeat, too. */
const isRefusal = ({ status, headers }: Response): boolean =>
  (status >= 400 && status < 500) || (status === 200 && headers.get('x-should-retry') === 'false')

/**
 * Has a refusal wait while its account, or else its address, has had too many: a storm of requests that are
 * refused must not take the time of those that are served. The wait is none for the first few hundred a second.
 * Beyond a bound the connection is closed with the answer.
 */
export async function delayRejection(
  response: Response,
  { request, owner, address }: Refused,
  budget: Shares,
): Promise<void> {
  if (!isRefusal(response)) return
  // What was only announced has cost nothing: it is dropped as it comes.
  const announced = request.bodyUsed ? Number(request.headers.get('content-length') ?? 0) : 0
  const bytes = Number.isFinite(announced) ? Math.min(Math.max(0, announced), maxBodyBytes) : 0
  const ms = refusalMs + bytes * byteMs
  try {
    await budget.shareOf(owner ?? `address ${address()}`).spend(ms, 'idle')
  } catch {
    response.headers.set('connection', 'close')
  }
}
