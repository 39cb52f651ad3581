import { headersOf } from './request-head'
import type { ProviderConnection } from '../catalog/snapshot'
import { AnswerTooLong } from './http/answer'
import type { Egress } from './http/egress'
import { ProxyRefused } from './http/proxy-handshake'
import { createConnectionTest } from '../providers/connection-test'
import type { Credentials } from '../providers/credentials'
import type { Provider } from '../providers/provider'
import { scrub } from '../providers/redact'
import { answerShape } from '../wire/json-shape'
import { parseShaped } from '../wire/json-slices'
import type { ModelListing } from '../providers/model-listing'

const timeoutMs = 10_000
const maxAnswerBytes = 5 * 1024 * 1024

interface ProbePorts {
  egress: Pick<Egress, 'send'>
  credentials: Credentials
}

interface ProbeTarget {
  provider: Provider
  connection: ProviderConnection
}

/** Tests a connection by its model list, or by another call that shows that it works. A failure is a result. */
export async function probe(
  { egress, credentials }: ProbePorts,
  target: ProbeTarget,
): Promise<ModelListing> {
  const { provider, connection } = target
  const startedAt = performance.now()
  const result = (success: boolean, message: string, models: string[] = []): ModelListing => ({
    success,
    message,
    models,
    latencyMs: Math.round(performance.now() - startedAt),
  })
  try {
    const { method, url, body, judge } = createConnectionTest(target)
    const request = { method, url, body, headers: headersOf(target, url) }
    const proof = credentials.authenticatorFor(target)
    const response = await egress.send({
      method,
      url,
      ...(method === 'POST' && { body }),
      headers: proof ? await proof.headers(request) : request.headers,
      signal: AbortSignal.timeout(timeoutMs),
      owner: connection.owner,
      network: connection.network,
    })
    const text = await response.text(maxAnswerBytes)
    const answered = parseBody(text)
    const verdict = judge({ status: response.status, body: answered })
    if (verdict) return result(true, verdict.message, verdict.models)
    const isGood = response.status >= 200 && response.status < 300
    const words = isGood ? 'Its answer has an unexpected format.' : text
    return result(
      false,
      `${provider.name} returned status ${response.status}. ${scrub(words, connection)}`.trim(),
    )
  } catch (thrown) {
    const words = messageOf(thrown)
    return result(false, `${provider.name} could not be reached: ${scrub(words, connection)}.`)
  }
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof AnswerTooLong) return 'its list of models is too large'
  if (!(thrown instanceof Error)) return 'unknown error'
  return thrown.cause instanceof ProxyRefused ? thrown.cause.message : thrown.message
}

function parseBody(text: string): unknown {
  try {
    return parseShaped(text, answerShape)
  } catch {
    return undefined
  }
}
