import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { canned } from '../upstream/answers'
import { Missing, startProgram, type Subject } from './subject'

const folder = join(import.meta.dir, '../peers')

/** The folder into which `npm run bench peers` installs. */
export const portkeyServer = join(
  folder,
  'portkey/node_modules/@portkey-ai/gateway/build/start-server.js',
)
export const litellmEnvironment = join(folder, 'litellm/venv')

const need = (path: string): void => {
  if (!existsSync(path)) throw new Missing('not installed: npm run bench peers')
}

/** Starts Portkey as a bare relay: no key, no cache, no log, no check. */
export async function startPortkey(): Promise<Subject> {
  need(portkeyServer)
  return startProgram({
    name: 'portkey',
    title: '@portkey-ai/gateway, its features off',
    command: async ({ port }) => ['node', portkeyServer, `--port=${port}`, '--headless'],
    // Each request names its provider.
    headers: ({ port }) => ({
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${port}/v1`,
    }),
    environment: () => ({ NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' }),
  })
}

const litellmKey = `sk-${crypto.randomUUID().replaceAll('-', '')}`

/** Starts the proxy with a list of models and the one key that it requires. */
export async function startLitellm(): Promise<Subject> {
  const program = join(litellmEnvironment, 'bin/litellm')
  need(program)
  return startProgram({
    name: 'litellm',
    title: 'litellm[proxy], one worker, its features off',
    async command({ port, provider, directory }) {
      const path = join(directory, 'config.yaml')
      const api_base = `http://127.0.0.1:${provider.port}/v1`
      const model_list = Object.keys(canned).map((model) => ({
        model_name: model,
        litellm_params: { model: `openai/${model}`, api_base, api_key: 'sk-bench' },
      }))
      // JSON is YAML.
      const litellm_settings = { telemetry: false }
      const general_settings = { master_key: litellmKey }
      await Bun.write(path, JSON.stringify({ model_list, litellm_settings, general_settings }))
      const where = ['--host', '127.0.0.1', '--port', String(port)]
      return [program, '--config', path, ...where, '--num_workers', '1']
    },
    headers: () => ({ authorization: `Bearer ${litellmKey}` }),
    environment: () => ({
      LITELLM_MODE: 'PRODUCTION',
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_LOG: 'ERROR',
    }),
  })
}

/** Go modules that the Go module proxy does not serve. */
export const goPeers = {
  bifrost: 'github.com/maximhq/bifrost/transports',
  gomodel: 'github.com/enterpilot/gomodel',
}

const refused = (module: string) =>
  `the Go module proxy refuses ${module}: 403, "This module version is not available"`

/** Unavailable peers, and why. */
export const refusedPeers: Record<string, string> = Object.fromEntries(
  Object.entries(goPeers).map(([name, module]) => [name, refused(module)]),
)
