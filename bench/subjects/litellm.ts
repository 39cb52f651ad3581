import { join } from 'node:path'
import { canned } from '../upstream/answers'
import type { Governance } from './governance'
import { environmentOf, requireProgram } from './peers'
import { startProgram, type Place, type Program } from './program'
import type { Subject } from './subject'

const program = join(environmentOf('litellm'), 'bin/litellm')
const key = `sk-${crypto.randomUUID().replaceAll('-', '')}`

/** More than any load, so that limits are counted and never reached. */
const endless = 1_000_000_000

/** Its hook for keys that are not in its database: one key, with limits. */
const hook = `from litellm.proxy._types import UserAPIKeyAuth


async def authenticate(request, api_key: str) -> UserAPIKeyAuth:
    if api_key != "${key}":
        raise PermissionError("unknown key")
    return UserAPIKeyAuth(api_key=api_key, user_id="bench", rpm_limit=${endless}, tpm_limit=${endless})
`

const modelsOf = ({ provider }: Place, prices: object) =>
  Object.keys(canned).map((model) => ({
    model_name: model,
    litellm_params: {
      model: `openai/${model}`,
      api_base: `http://127.0.0.1:${provider.port}/v1`,
      api_key: 'sk-bench',
      ...prices,
    },
  }))

const bareOf = (place: Place) => ({
  model_list: modelsOf(place, {}),
  litellm_settings: { telemetry: false },
  general_settings: { master_key: key },
})

function governedOf(place: Place) {
  const { hostname, port } = new URL(place.redisUrl)
  // Redis for counters: no kind of call is cached.
  const cache_params = {
    type: 'redis',
    host: hostname,
    port: Number(port),
    supported_call_types: [],
  }
  return {
    model_list: modelsOf(place, { input_cost_per_token: 1e-6, output_cost_per_token: 4e-6 }),
    litellm_settings: {
      telemetry: false,
      enable_post_custom_auth_checks: true,
      cache: true,
      cache_params,
    },
    router_settings: {
      redis_host: hostname,
      redis_port: Number(port),
      provider_budget_config: { openai: { budget_limit: endless, time_period: '1d' } },
    },
    general_settings: {
      master_key: `sk-${crypto.randomUUID()}`,
      custom_auth: 'bench_auth.authenticate',
    },
  }
}

interface Own extends Pick<Program, 'name' | 'title' | 'services'> {
  governance: Governance
  configurationOf: (place: Place) => object
}

async function start({ configurationOf, ...own }: Own): Promise<Subject> {
  requireProgram(program)
  return startProgram({
    ...own,
    async command(place) {
      const path = join(place.directory, 'config.yaml')
      await Bun.write(join(place.directory, 'bench_auth.py'), hook)
      // JSON is YAML.
      await Bun.write(path, JSON.stringify(configurationOf(place)))
      const where = ['--host', '127.0.0.1', '--port', String(place.port)]
      return [program, '--config', path, ...where, '--num_workers', '1']
    },
    headers: () => ({ authorization: `Bearer ${key}` }),
    environment: () => ({
      LITELLM_MODE: 'PRODUCTION',
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_LOG: 'ERROR',
    }),
  })
}

/** Starts the proxy with a list of models and the one key that it requires. */
export const startLitellm = () =>
  start({
    name: 'litellm',
    title: 'litellm 1.110.2, one worker, bare',
    governance: { setting: 'bare' },
    configurationOf: bareOf,
  })

/**
 * Starts the proxy with what it has without PostgreSQL. Its keys, the spend of keys and its logs are stored through Prisma, whose
 * engines its installation downloads.
 */
export const startLitellmGoverned = () =>
  start({
    name: 'litellm-governed',
    title: 'litellm 1.110.2, governed, no database',
    governance: {
      setting: 'governed',
      keys: 'one, by a hook',
      limits: 'requests and tokens of a key, in Redis',
      budgets: 'of the provider, in Redis, counted after the answer',
      services: 'Redis',
    },
    services: ['Redis'],
    configurationOf: governedOf,
  })
