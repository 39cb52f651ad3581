import { join } from 'node:path'
import { canned } from '../upstream/answers'
import type { Governance } from './governance'
import { post } from './management'
import { environmentOf, requireProgram } from './peers'
import { startProgram, type Place, type Program } from './program'
import type { Subject } from './subject'

const program = join(environmentOf('ferrogw'), 'bin/ferrogw')
const masterKey = `fgw_${crypto.randomUUID().replaceAll('-', '')}`

/** More than any load, so that limits are counted and never reached. */
const endless = 1_000_000_000

const budget = { spend_limit_usd: endless, input_per_m_tokens: 1, output_per_m_tokens: 4 }
const stages = ['before_request', 'after_request', 'on_error']
const plugin = (name: string, type: string, config: object) => (stage: string) => ({
  name,
  type,
  stage,
  enabled: true,
  config,
})

/** The plugins that count, charge and record each request, as its example configuration has them. */
const plugins = [
  plugin('rate-limit', 'ratelimit', { requests_per_second: 1_000_000, key_rpm: endless })(
    'before_request',
  ),
  ...stages.slice(0, 2).map(plugin('budget', 'ratelimit', budget)),
  ...stages.map(plugin('request-logger', 'logging', { level: 'info', persist: true })),
]

async function start(
  own: Pick<Program, 'name' | 'title' | 'services' | 'createKey'> & { governance: Governance },
  plugins: readonly object[],
): Promise<Subject> {
  requireProgram(program)
  return startProgram({
    ...own,
    async command({ directory }) {
      const targets = [{ virtual_key: 'openai', models: Object.keys(canned) }]
      const configuration = { apiVersion: 'v1', strategy: { mode: 'single' }, targets, plugins }
      await Bun.write(join(directory, 'config.json'), JSON.stringify(configuration))
      return [program, 'serve']
    },
    headers: () => ({ authorization: `Bearer ${masterKey}` }),
    environment: ({ port, provider, directory, databaseUrl }) => ({
      MASTER_KEY: masterKey,
      PORT: String(port),
      GATEWAY_CONFIG: join(directory, 'config.json'),
      OPENAI_API_KEY: 'sk-bench',
      OPENAI_BASE_URL: `http://127.0.0.1:${provider.port}/v1`,
      LOG_LEVEL: 'warn',
      // Of each address: all load is from one.
      RATE_LIMIT_RPS: '0',
      ...(databaseUrl !== '' && storesOf(databaseUrl)),
    }),
  })
}

const storesOf = (databaseUrl: string): Record<string, string> => ({
  API_KEY_STORE_BACKEND: 'postgres',
  API_KEY_STORE_DSN: databaseUrl,
  REQUEST_LOG_STORE_BACKEND: 'postgres',
  REQUEST_LOG_STORE_DSN: databaseUrl,
})

async function createKey({ port }: Place): Promise<string> {
  const url = `http://127.0.0.1:${port}/admin/keys`
  const key = await post(url, { body: { name: 'bench' }, token: masterKey, textAt: ['key'] })
  return `Bearer ${key}`
}

/** Starts Ferro's gateway with its master key and without plugins. */
export const startFerrogw = () =>
  start({ name: 'ferrogw', title: 'ferrogw 1.5.10, bare', governance: { setting: 'bare' } }, [])

/** Starts Ferro's gateway with the plugins for limits, budgets and logs, keys and logs in PostgreSQL. */
export const startFerrogwGoverned = () =>
  start(
    {
      name: 'ferrogw-governed',
      title: 'ferrogw 1.5.10, governed',
      governance: {
        setting: 'governed',
        keys: 'in PostgreSQL',
        limits: 'requests of the gateway and of a key, in memory',
        budgets: 'spend of a key in memory, counted after the answer',
        logs: 'two rows a request',
        services: 'PostgreSQL',
      },
      services: ['PostgreSQL'],
      createKey,
    },
    plugins,
  )
