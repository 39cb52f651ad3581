import { eventually } from '../faults/asking'
import { startRig, type Customer, type Rig } from '../rig'
import { vectorOf } from '../upstreams/embeddings'

/** What a program reported of one case. */
export interface Result {
  case: string
  /** Null where the client has no such thing, or does not do it. */
  ok: boolean | null
  detail: string
}

/** What one client works with, and what its deeds looked like from the other side. */
export interface Seat {
  /** For the program. */
  environment: Record<string, string>
  /** The result, unless what was seen of the case belies it. `endedAt`: of the program, by the clock. */
  witness: (result: Result, endedAt: number) => Promise<Result>
}

/** One gateway and one provider for all clients. */
export interface Stage extends AsyncDisposable {
  rig: Rig
  seat: (name: string) => Promise<Seat>
}

/** Behaviours of the fake provider by the variable that holds the model's name. */
const models = {
  MODEL: 'ok',
  TOOL_MODEL: 'tool-agent',
  EMBEDDING_MODEL: 'ok',
  // Down for less than any client waits before it comes again.
  BUSY_MODEL: '503-storm-0.3',
  BROKEN_MODEL: 'half-json',
  // Longer than a client takes to be refused beside it, shorter than it goes on trying.
  SLOW_MODEL: 'chunks-25-gap-100',
  STALLING_MODEL: 'stall-after-3',
} as const

const witnessMs = 20_000

export async function startClientStage(): Promise<Stage> {
  const rig = await startRig({ environment: { LOG_LEVEL: 'warn' } })
  const { gateway } = rig
  const plan = async (name: string, limits: object) =>
    (await gateway.admin('POST', '/plans', { name, ...limits }))['id']
  const single = await plan('one at once', { concurrent_requests: 1 })
  const limited = await plan('one a minute', { requests_per_minute: 1 })
  // What all of them share is made here: they come all at once.
  await gateway.customer()
  return {
    rig,
    async seat(name) {
      const customer = await gateway.customer()
      const oneAtOnce = await gateway.customer({}, { plan_id: single })
      const oneAMinute = await gateway.customer({}, { plan_id: limited })
      const poor = await gateway.customer({}, { credit: 0 })
      const environment = {
        TOLLGATE_URL: gateway.url,
        TOLLGATE_KEY: customer.key,
        POOR_KEY: poor.key,
        LIMITED_KEY: oneAMinute.key,
        SINGLE_KEY: oneAtOnce.key,
        UNKNOWN_MODEL: 'fake/nobody-has-it',
        GREETING: 'All is well at the fake provider today, thank you.',
        VECTOR: JSON.stringify(vectorOf('a', 8)),
        ...(await modelsOf(rig, name)),
      }
      return {
        environment,
        witness: (result, endedAt) => witness(result, { rig, name, oneAtOnce, endedAt }),
      }
    },
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  }
}

/** Models of a client's own, so that it is known who asked for what. */
async function modelsOf(rig: Rig, name: string): Promise<Record<string, string>> {
  const made: [string, string][] = []
  for (const [variable, behaviour] of Object.entries(models)) {
    const isEmbedding = variable === 'EMBEDDING_MODEL'
    const kind = variable.toLowerCase().replaceAll('_', '-')
    const fields = isEmbedding ? { category: 'embedding', pricing: { input: 1, output: 0 } } : {}
    const upstream_model = `${behaviour}~${name}`
    made.push([variable, await rig.model(`${kind}-${name}`, { upstream_model, ...fields })])
  }
  return Object.fromEntries(made)
}

interface Scene {
  rig: Rig
  name: string
  oneAtOnce: Customer
  endedAt: number
}

/** What a program still does, at least, when it has left a stream. */
const afterLeavingMs = 500

const askedFor = ({ rig, name }: Scene, model: keyof typeof models) =>
  rig.upstream.seen().filter((seen) => seen.model === `${models[model]}~${name}`)

/** Throws where something else happened than a client says. */
const witnesses: Record<string, (scene: Scene) => Promise<void>> = {
  async 'retry-503'(scene) {
    const { length } = askedFor(scene, 'BUSY_MODEL')
    if (length !== 2) throw new Error(`the provider was asked ${length} times, not twice`)
  },
  async 'no-retry'(scene) {
    const { length } = askedFor(scene, 'BROKEN_MODEL')
    if (length !== 1) throw new Error(`the provider was asked ${length} times, not once`)
  },
  async abort(scene) {
    const asked = () => askedFor(scene, 'STALLING_MODEL')
    if (asked().length !== 1) throw new Error(`the provider was asked ${asked().length} times`)
    await eventually(() => asked().every(({ closedBy }) => closedBy === 'peer'), witnessMs)
    // The end of the program would have closed it too.
    const isLate = asked().some(({ closedAt }) => (closedAt ?? 0) > scene.endedAt - afterLeavingMs)
    if (isLate) throw new Error('the stream was open until the program ended')
  },
  async 'retry-429'({ rig, oneAtOnce }) {
    const statuses = await statusesOf(rig, oneAtOnce)
    const [refused, passed] = [429, 200].map(
      (code) => statuses.filter((got) => got === code).length,
    )
    if (!refused || (passed ?? 0) < 2) throw new Error(`the answers were ${statuses.join(', ')}`)
  },
}

/** The statuses of all that an account asked for. */
async function statusesOf({ gateway }: Rig, { key }: Customer): Promise<unknown[]> {
  const path = `${gateway.url}/api/account/request-logs`
  const deadline = performance.now() + witnessMs
  for (;;) {
    const answer = await fetch(path, { headers: { authorization: `Bearer ${key}` } })
    const { logs = [] }: { logs?: { status_code: number | null }[] } = JSON.parse(
      await answer.text(),
    )
    const statuses = logs.map(({ status_code }) => status_code ?? 200)
    if (statuses.filter((status) => status === 200).length > 1) return statuses
    if (performance.now() > deadline) return statuses
    await Bun.sleep(100)
  }
}

async function witness(result: Result, scene: Scene): Promise<Result> {
  const look = result.ok === true ? witnesses[result.case] : undefined
  if (!look) return result
  try {
    await look(scene)
    return result
  } catch (thrown) {
    return { ...result, ok: false, detail: `${result.detail}: ${String(thrown)}` }
  }
}
