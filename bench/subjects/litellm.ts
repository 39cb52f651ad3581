import { join } from 'node:path'
import { canned } from '../upstream/answers'
import { environmentOf, requireProgram } from './peers'
import { startProgram } from './program'
import type { Subject } from './subject'

const program = join(environmentOf('litellm'), 'bin/litellm')
const masterKey = `sk-${crypto.randomUUID().replaceAll('-', '')}`

/** Starts the proxy with a list of models and the one key that it requires. */
export async function startLitellm(): Promise<Subject> {
  requireProgram(program)
  return startProgram({
    name: 'litellm',
    title: 'litellm 1.110.2, one worker, bare',
    governance: { setting: 'bare' },
    async command({ port, provider, directory }) {
      const path = join(directory, 'config.yaml')
      const api_base = `http://127.0.0.1:${provider.port}/v1`
      const model_list = Object.keys(canned).map((model) => ({
        model_name: model,
        litellm_params: { model: `openai/${model}`, api_base, api_key: 'sk-bench' },
      }))
      // JSON is YAML.
      const litellm_settings = { telemetry: false }
      const general_settings = { master_key: masterKey }
      await Bun.write(path, JSON.stringify({ model_list, litellm_settings, general_settings }))
      const where = ['--host', '127.0.0.1', '--port', String(port)]
      return [program, '--config', path, ...where, '--num_workers', '1']
    },
    headers: () => ({ authorization: `Bearer ${masterKey}` }),
    environment: () => ({
      LITELLM_MODE: 'PRODUCTION',
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_LOG: 'ERROR',
    }),
  })
}
