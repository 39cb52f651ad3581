import { Cost, type Order as AttackOrder } from './attacker-process'
import { behaviourNames } from './flood-server'
import { Measured } from './victim-process'
import { authority, call, idIn } from '../../harness/byok'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

/** The order of an attack, without address and key. */
export type Assault = Pick<AttackOrder, 'clients' | 'body'> &
  Partial<Pick<AttackOrder, 'path' | 'bytesPerSecond' | 'load'>> &
  Pick<AttackOrder, 'key'>

/** An attack under way. */
export interface RunningAssault {
  /** Reads the cost so far. */
  readCost: () => Promise<Cost>
  /** Ends the attack; returns its cost. */
  stop: () => Promise<Cost>
}

/** A gateway that can be attacked. */
export interface Target {
  gateway: Gateway
  /** Creates a customer with a connection to the hostile provider, isolated from earlier attackers' limits. */
  newAttacker: () => Promise<Customer>
  /** Builds the bodies of an attack, so that it begins at once. */
  prepare: (assault: Assault) => Promise<void>
  /** Attacks until it is stopped. */
  assault: (assault: Assault) => RunningAssault
}

/** A gateway with a victim and an attacker, each in its own process. */
export interface Fixture extends Target, AsyncDisposable {
  /** Measures the victim's service for a time. */
  measure: (forMs: number) => Promise<Measured>
}

/** With a second gateway beside the victim's, which only the attacker calls. */
export interface ControlledFixture extends Fixture {
  control: Target
}

const root = `${import.meta.dir}/../../..`

/** Starts a process of this folder with an IPC channel. */
function startProcess(file: string, niceness: number) {
  const waiting: ((message: unknown) => void)[] = []
  const child = Bun.spawn(
    ['nice', '-n', String(niceness), process.execPath, `${import.meta.dir}/${file}`],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      ipc: (message: unknown) => waiting.shift()?.(message),
    },
  )
  const next = () => new Promise<unknown>((resolve) => void waiting.push(resolve))
  return {
    next,
    send: (message: unknown) => child.send(message),
    ask(message: unknown) {
      const answer = next()
      child.send(message)
      return answer
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

const urlIn = (message: unknown): string =>
  typeof message === 'object' && message !== null && 'providerUrl' in message
    ? String(message.providerUrl)
    : ''

async function connectVictim({ admin }: Gateway, providerUrl: string): Promise<void> {
  const provider = {
    key: 'victim',
    name: 'Victim',
    adapter: 'openai',
    base_url: `${providerUrl}/v1`,
  }
  await admin('POST', '/providers', provider)
  await admin('POST', '/connections', { name: 'v', provider: 'victim', api_key: 'sk-victim-1234' })
  const model = { name: 'm', category: 'chat', pricing: { input: 1, output: 4 } }
  await admin('POST', '/models', { id: 'victim/m', ...model })
}

async function addHostileProvider({ admin }: Gateway): Promise<void> {
  await admin('PUT', '/config', { allowed_private_networks: ['127.0.0.2/32'] })
  await admin('POST', '/providers', { key: 'hostile', name: 'Hostile', adapter: 'openai' })
  for (const name of ['m', ...behaviourNames]) {
    const model = { name, category: 'chat', pricing: { input: 1, output: 4 } }
    await admin('POST', '/models', { id: `hostile/${name}`, ...model })
  }
}

async function newAttacker(gateway: Gateway, url: string): Promise<Customer> {
  const attacker = await gateway.customer({ permissions: ['admin'] })
  const fields = { name: 'Mine', provider: 'hostile', api_key: 'sk-hostile-1234' }
  idIn(await call(gateway, attacker, 'POST /connections', { ...fields, endpoint_url: url }))
  return attacker
}

/** The processes around the gateways, and their addresses. */
interface Peers {
  hostile: ReturnType<typeof startProcess>
  hostileUrl: string
  victimUrl: string
}

/** Starts a gateway of its own process and database, with the providers of victim and attacker. */
async function startTarget({ hostileUrl, victimUrl }: Peers): Promise<Gateway> {
  const gateway = await startGateway({
    process: 'own',
    database: 'embedded',
    environment: {
      NODE_EXTRA_CA_CERTS: authority,
      USER_ENDPOINT_PORTS: `443,${new URL(hostileUrl).port}`,
      LOG_LEVEL: 'warn',
    },
  })
  await connectVictim(gateway, victimUrl)
  await addHostileProvider(gateway)
  return gateway
}

const targetOf = (gateway: Gateway, { hostile, hostileUrl }: Peers): Target => ({
  gateway,
  newAttacker: () => newAttacker(gateway, hostileUrl),
  async prepare({ body }) {
    await hostile.ask({ prepare: body })
  },
  assault(assault) {
    const usual = { path: '/v1/chat/completions' }
    hostile.send({ start: { ...usual, ...assault, url: gateway.url } })
    const askCost = async (message: string) => Cost.parse(await hostile.ask(message))
    return { readCost: () => askCost('cost'), stop: () => askCost('stop') }
  },
})

async function openFixture(stack: AsyncDisposableStack) {
  const victim = stack.use(startProcess('victim-process.ts', 0))
  const victimUrl = urlIn(await victim.next())
  // Its sending must not take processor time from the gateway.
  const hostile = stack.use(startProcess('attacker-process.ts', 19))
  const peers = { hostile, hostileUrl: urlIn(await hostile.next()), victimUrl }
  const gateway = stack.use(await startTarget(peers))
  const { key } = await gateway.customer()
  const measure = async (forMs: number) =>
    Measured.parse(await victim.ask({ url: gateway.url, key, forMs }))
  return { ...targetOf(gateway, peers), measure, peers }
}

/** Starts all of them. */
export async function createFixture(): Promise<Fixture> {
  await using stack = new AsyncDisposableStack()
  const fixture = await openFixture(stack)
  const opened = stack.move()
  return { ...fixture, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** Starts all of them, and the gateway of the control. */
export async function createControlledFixture(): Promise<ControlledFixture> {
  await using stack = new AsyncDisposableStack()
  const fixture = await openFixture(stack)
  const control = targetOf(stack.use(await startTarget(fixture.peers)), fixture.peers)
  const opened = stack.move()
  return { ...fixture, control, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
