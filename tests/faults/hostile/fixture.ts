import { Cost, type Order as AttackOrder } from './attacker-process'
import { behaviourNames } from './flood-server'
import { Measured } from './victim-process'
import { authority, call, idIn } from '../../harness/byok'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

/** The order of an attack, without address and key. */
export type Assault = Pick<AttackOrder, 'clients' | 'body'> &
  Partial<Pick<AttackOrder, 'path' | 'bytesPerSecond'>> &
  Pick<AttackOrder, 'key'>

/** A gateway with a victim and an attacker, each in its own process. */
export interface Fixture extends AsyncDisposable {
  gateway: Gateway
  /** Creates a customer with a connection to the hostile provider, isolated from earlier attackers' limits. */
  newAttacker: () => Promise<Customer>
  /** Measures the victim's service for a time. */
  measure: (forMs: number) => Promise<Measured>
  /** Attacks until it is stopped, which returns the cost. */
  assault: (assault: Assault) => () => Promise<Cost>
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

/** Starts all of them. */
export async function createFixture(environment: Record<string, string> = {}): Promise<Fixture> {
  await using stack = new AsyncDisposableStack()
  const victim = stack.use(startProcess('victim-process.ts', 0))
  const victimUrl = urlIn(await victim.next())
  // Its sending must not take processor time from the gateway.
  const hostile = stack.use(startProcess('attacker-process.ts', 19))
  const hostileUrl = urlIn(await hostile.next())
  const gateway = stack.use(
    await startGateway({
      environment: {
        NODE_EXTRA_CA_CERTS: authority,
        USER_ENDPOINT_PORTS: `443,${new URL(hostileUrl).port}`,
        LOG_LEVEL: 'warn',
        ...environment,
      },
    }),
  )
  const { key } = await gateway.customer()
  await connectVictim(gateway, victimUrl)
  await addHostileProvider(gateway)
  const opened = stack.move()
  return {
    gateway,
    newAttacker: () => newAttacker(gateway, hostileUrl),
    async measure(forMs) {
      return Measured.parse(await victim.ask({ url: gateway.url, key, forMs }))
    },
    assault(assault) {
      const usual = { path: '/v1/chat/completions' }
      hostile.send({ ...usual, ...assault, url: gateway.url })
      return async () => Cost.parse(await hostile.ask('stop'))
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
