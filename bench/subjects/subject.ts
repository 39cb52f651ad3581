import type { Provider } from '../upstream/provider'
import type { Governance } from './governance'

/** The result of a money check on one gateway, one for each promise. */
export interface Verdict {
  promise: string
  holds: boolean
  found: string
}

/** A running path from the load to the provider, ready to be measured. */
export interface Subject extends AsyncDisposable {
  /** A short word that names its rows in results. */
  name: string
  title: string
  /** Absent where it is not a gateway. */
  governance?: Governance
  /** The ports of the load, and the root processes behind them. */
  ports: number[]
  pids: number[]
  provider: Provider
  headers: Record<string, string>
  /** Returns the gateway's name of a provider's model. */
  modelOf: (model: string, isAborted: boolean) => string
  /** Time from its process's start to its first complete answer, in ms; the first start ever, if that differs. */
  startMs: number
  firstStartMs?: number
  /** Checks that the charges match the usage. `requests` is the number sent by the load. */
  verify?: (requests: number) => Promise<Verdict[]>
}

/** A subject is unavailable, with the reason. */
export class Missing extends Error {}

export const freePort = (): number => {
  using probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  return probe.port
}

const patienceMs = 120_000

type BenchRequest = Pick<Subject, 'name' | 'ports' | 'headers' | 'modelOf'>

/** Retries a plain request until it succeeds. Throws with the last failure after two minutes. */
export async function firstAnswer(subject: BenchRequest, isOver: () => boolean = () => false) {
  const deadline = performance.now() + patienceMs
  const body = JSON.stringify({
    model: subject.modelOf('plain', false),
    messages: [{ role: 'user', content: 'Hello.' }],
  })
  for (let last = 'nothing listens'; ; await Bun.sleep(5)) {
    try {
      const response = await fetch(`http://127.0.0.1:${subject.ports[0]}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...subject.headers, 'content-type': 'application/json' },
        body,
      })
      if (response.ok) return void (await response.text())
      last = `${response.status} ${(await response.text()).slice(0, 300)}`
    } catch {
      // Not yet.
    }
    if (isOver() || performance.now() > deadline) {
      throw new Missing(`${subject.name} does not answer: ${last}`)
    }
  }
}
