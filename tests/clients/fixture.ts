import { eventually } from '../../server/testing/eventually'
import { startRig, type Customer, type Rig } from '../harness/server'
import { vectorOf } from '../harness/upstreams/embeddings'
import { soundOf } from '../harness/upstreams/speeches'
import { addMediaModels } from './media-models'

/** A program's report of one case. */
export interface Result {
  case: string
  /** Null where the client lacks the feature. */
  ok: boolean | null
  detail: string
}

/** The environment of one client, and the check of its results from the server's side. */
export interface ClientRun {
  /** Variables for the program. */
  environment: Record<string, string>
  /** Returns the result, or a failure where the server observed otherwise. `endedAt`: the program's end. */
  witness: (result: Result, endedAt: number) => Promise<Result>
}

/** One gateway and one provider for all clients. */
export interface Fixture extends AsyncDisposable {
  rig: Rig
  startClientRun: (name: string) => Promise<ClientRun>
}

/** Behaviours of the fake provider by the variable that holds the model's name. */
const models = {
  MODEL: 'ok',
  TOOL_MODEL: 'tool-agent',
  EMBEDDING_MODEL: 'ok',
  SPEECH_MODEL: 'ok',
  // Down for less time than any client waits before a retry.
  BUSY_MODEL: '503-storm-0.3',
  BROKEN_MODEL: 'half-json',
  // Longer than a client takes to be rejected beside it, shorter than its retries last.
  SLOW_MODEL: 'chunks-25-gap-100',
  STALLING_MODEL: 'stall-after-3',
} as const

const witnessMs = 20_000

export async function createClientFixture(): Promise<Fixture> {
  const rig = await startRig({ environment: { LOG_LEVEL: 'warn' } })
  const { gateway } = rig
  const plan = async (name: string, limits: object) =>
    (await gateway.admin('POST', '/plans', { name, ...limits }))['id']
  const single = await plan('one at once', { concurrent_requests: 1 })
  const limited = await plan('one a minute', { requests_per_minute: 1 })
  // Shared objects are created here, as all clients start at once.
  await gateway.customer()
  const media = await addMediaModels(rig)
  return {
    rig,
    async startClientRun(name) {
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
        SOUND: soundOf('Hello').toString('base64'),
        ...media,
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

/** The fields of models that write no text. */
const fieldsByVariable: Readonly<Record<string, object>> = {
  EMBEDDING_MODEL: { category: 'embedding', pricing: { input: 1, output: 0 } },
  SPEECH_MODEL: { category: 'speech', pricing: { input: 0.6, output: 0, audio_output: 12 } },
}

/** Creates the models of one client, so that requests can be attributed. */
async function modelsOf(rig: Rig, name: string): Promise<Record<string, string>> {
  const made: [string, string][] = []
  for (const [variable, behaviour] of Object.entries(models)) {
    const kind = variable.toLowerCase().replaceAll('_', '-')
    const fields = fieldsByVariable[variable] ?? {}
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

/** The minimum time that a program keeps running after it has abandoned a stream. */
const afterLeavingMs = 500

const requestsFor = ({ rig, name }: Scene, model: keyof typeof models) =>
  rig.upstream.requests().filter((seen) => seen.model === `${models[model]}~${name}`)

/** The questions of the two turns, and the result of the tool between them. */
const history = ['How is the weather?', '18 degrees', 'And now?'] as const

/** Returns whether these texts stand in the body, in their order. */
function standIn(body: unknown, texts: readonly string[]): boolean {
  const places = texts.map((text) => JSON.stringify(body).indexOf(text))
  return places.every((place, index) => place > (places[index - 1] ?? -1))
}

/** Checks by case; throws where the server observed something else than the client reports. */
const witnesses: Record<string, (scene: Scene) => Promise<void>> = {
  async 'second-turn'(scene) {
    const second = requestsFor(scene, 'TOOL_MODEL').filter(({ body }) =>
      standIn(body, history.slice(-1)),
    )
    if (second.length < 2) throw new Error(`the second turn had ${second.length} requests, not two`)
    if (!second.every(({ body }) => standIn(body, history)))
      throw new Error('the provider did not receive the first turn with the second')
  },
  async 'retry-503'(scene) {
    const { length } = requestsFor(scene, 'BUSY_MODEL')
    if (length !== 2) throw new Error(`the provider received ${length} requests, not two`)
  },
  async 'no-retry'(scene) {
    const { length } = requestsFor(scene, 'BROKEN_MODEL')
    if (length !== 1) throw new Error(`the provider received ${length} requests, not one`)
  },
  async abort(scene) {
    const requests = () => requestsFor(scene, 'STALLING_MODEL')
    if (requests().length !== 1)
      throw new Error(`the provider received ${requests().length} requests`)
    await eventually(() => requests().every(({ closedBy }) => closedBy === 'peer'), witnessMs)
    // The exit of the program would have closed it too.
    const isLate = requests().some(
      ({ closedAt }) => (closedAt ?? 0) > scene.endedAt - afterLeavingMs,
    )
    if (isLate) throw new Error('the stream was open until the program exited')
  },
  async 'retry-429'({ rig, oneAtOnce }) {
    const statuses = await statusesOf(rig, oneAtOnce)
    const [refused, passed] = [429, 200].map(
      (code) => statuses.filter((got) => got === code).length,
    )
    if (!refused || (passed ?? 0) < 2) throw new Error(`the answers were ${statuses.join(', ')}`)
  },
}

/** Returns the statuses of all requests of an account. */
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
