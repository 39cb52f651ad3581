import { join } from 'node:path'
import type { Governance } from './governance'
import { environmentOf, requireProgram } from './peers'
import { startProgram, type Place } from './program'
import { freePort, type Subject } from './subject'

const program = join(environmentOf('smg'), 'bin/smg')
const tenantKey = `sk-${crypto.randomUUID()}`

/** More than any load. */
const limits = ['--rate-limit-tokens-per-second', '1000000', '--max-concurrent-requests', '100000']

interface Options {
  name: string
  title: string
  governance: Governance
  options: string[]
}

const commandOf = ({ port, provider }: Place, options: string[]): string[] => {
  const worker = `http://127.0.0.1:${provider.port}`
  const route = ['--backend', 'openai', '--worker-urls', worker]
  const where = ['--host', '127.0.0.1', '--port', String(port)]
  const metrics = ['--prometheus-host', '127.0.0.1', '--prometheus-port', String(freePort())]
  return [program, 'launch', ...route, ...where, ...metrics, ...options]
}

async function start({ options, ...own }: Options): Promise<Subject> {
  requireProgram(program)
  return startProgram({
    ...own,
    command: async (place) => commandOf(place, options),
    headers: () => ({ authorization: `Bearer ${tenantKey}` }),
  })
}

/** Starts SMG as a relay to one worker of OpenAI's format. */
export const startSmg = () =>
  start({
    name: 'smg',
    title: 'smg 1.13.0, bare',
    governance: { setting: 'bare' },
    options: ['--log-level', 'warn'],
  })

/**
 * Starts SMG with a tenant's key, its limit on admission and a log of requests. It has no budgets; its limits of tenants
 * do not apply to workers of OpenAI's format.
 */
export const startSmgGoverned = () =>
  start({
    name: 'smg-governed',
    title: 'smg 1.13.0, governed',
    governance: {
      setting: 'governed',
      keys: 'of tenants, from the command line',
      limits: 'requests of the whole gateway',
      logs: 'lines in a file',
    },
    options: [
      '--log-level',
      'info',
      '--log-json',
      '--tenant-api-key',
      `bench:${tenantKey}`,
      ...limits,
    ],
  })
