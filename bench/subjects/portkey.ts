import { join } from 'node:path'
import { peersFolder, requireProgram } from './peers'
import { startProgram } from './program'
import type { Subject } from './subject'

const server = join(peersFolder, 'portkey/node_modules/@portkey-ai/gateway/build/start-server.js')

/** Starts Portkey as a bare relay: no key, no cache, no log, no check. Keys and budgets are not in the published package. */
export async function startPortkey(): Promise<Subject> {
  requireProgram(server)
  return startProgram({
    name: 'portkey',
    title: '@portkey-ai/gateway 1.15.2, bare',
    governance: { setting: 'bare' },
    command: async ({ port }) => ['node', server, `--port=${port}`, '--headless'],
    // Each request names its provider.
    headers: ({ provider }) => ({
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${provider.port}/v1`,
    }),
    environment: () => ({ NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' }),
  })
}
