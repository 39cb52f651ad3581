import { headersOf } from './upstream-head'
import type { Connection } from '../catalog/snapshot'
import type { Egress } from '../egress/egress'
import { connectionTest } from '../providers/connection-test'
import type { Credentials } from '../providers/credentials'
import type { Provider } from '../providers/provider'
import { scrub } from '../providers/upstream-error'

/** What a connection answered when it was asked for its models. */
export interface Probe {
  success: boolean
  message: string
  latencyMs: number
  models: string[]
}

const patienceMs = 10_000
const longestAnswer = 5 * 1024 * 1024

interface Ways {
  egress: Pick<Egress, 'send'>
  credentials: Credentials
}

interface Tested {
  provider: Provider
  connection: Connection
}

/** Asks a connection for its model list, or what else shows that it works. A failure is a result. */
export async function probe({ egress, credentials }: Ways, line: Tested): Promise<Probe> {
  const { provider, connection } = line
  const startedAt = performance.now()
  const result = (success: boolean, message: string, models: string[] = []): Probe => ({
    success,
    message,
    models,
    latencyMs: Math.round(performance.now() - startedAt),
  })
  try {
    const { method, url, body, judge } = connectionTest(line)
    const request = { method, url, body, headers: headersOf(line, url) }
    const proof = credentials.proofOf(line)
    const response = await egress.send({
      method,
      url,
      ...(method === 'POST' && { body }),
      headers: proof ? await proof.headers(request) : request.headers,
      signal: AbortSignal.timeout(patienceMs),
      owner: connection.owner,
    })
    const text = await limitedText(response)
    const answered = parsed(text)
    const verdict = judge({ status: response.status, body: answered })
    if (verdict) return result(true, verdict.message, verdict.models)
    const words = response.ok ? 'Its answer is not what was asked for.' : text
    return result(
      false,
      `${provider.name} answered with status ${response.status}. ${scrub(words, connection.secret)}`.trim(),
    )
  } catch (thrown) {
    const words = thrown instanceof Error ? thrown.message : 'unknown error'
    return result(false, `${provider.name} could not be asked: ${scrub(words, connection.secret)}.`)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function limitedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.byteLength
    if (size > longestAnswer) throw new Error('its list of models is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
