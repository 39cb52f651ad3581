import { isObject } from '../../../wire/json-body'

/** One request to the identity provider. */
interface ProviderRequest {
  url: string
  method: 'GET' | 'POST'
  headers: Readonly<Record<string, string>>
  body?: string
  signal: AbortSignal
}

/** Its answer; `text` rejects for a body that has more than `maxBytes`. */
interface ProviderAnswer {
  readonly status: number
  text: (maxBytes: number) => Promise<string>
}

/** Sends a request over the egress of the platform, which follows no redirect. */
export type SendToProvider = (request: ProviderRequest) => Promise<ProviderAnswer>

/** The identity provider does not answer, or its server fails. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}

/** An answer or a token of the identity provider is not accepted; the message is for the operator, and has no token. */
export class ProviderRejected extends Error {
  override readonly name = 'ProviderRejected'
}

const timeoutMs = 5000
const maxBytes = 512 * 1024
const tooManyRequests = 429
/** An error code of OAuth; any other text of the answer may hold what does not belong in a log. */
const errorCode = /^[a-z_]{1,60}$/

/**
 * Sends a request and returns the JSON object of its answer, within five seconds. Rejects with `ProviderUnavailable` or
 * `ProviderRejected`.
 */
export async function fetchObject(
  send: SendToProvider,
  request: Omit<ProviderRequest, 'signal'>,
): Promise<Record<string, unknown>> {
  const { host } = new URL(request.url)
  const { status, text } = await sendWithin(send, request, host)
  if (status >= 500 || status === tooManyRequests) {
    throw new ProviderUnavailable(`${host} answered with status ${status}`)
  }
  const body = parseObject(text)
  if (status === 200 && body) return body
  const error = body?.['error']
  const reason = typeof error === 'string' && errorCode.test(error) ? ` (${error})` : ''
  throw new ProviderRejected(
    status === 200
      ? `the answer of ${host} is no JSON object`
      : `${host} answered with status ${status}${reason}`,
  )
}

async function sendWithin(
  send: SendToProvider,
  request: Omit<ProviderRequest, 'signal'>,
  host: string,
): Promise<{ status: number; text: string }> {
  try {
    const answer = await send({ ...request, signal: AbortSignal.timeout(timeoutMs) })
    return { status: answer.status, text: await answer.text(maxBytes) }
  } catch (cause) {
    throw new ProviderUnavailable(`${host} did not answer`, { cause })
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return isObject(body) ? body : undefined
  } catch {
    return undefined
  }
}
