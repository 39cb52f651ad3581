import { join } from 'node:path'
import type { Agent } from './agents'
import { casesOf } from './cases'
import type { Prepared } from '../prepare'
import type { Result } from '../fixture'
import {
  canRunAlone,
  isolatedNetworkCommand,
  neededPrograms,
} from '../../faults/services/network-of-its-own'

const main = join(import.meta.dir, 'main.ts')

/** Returns why agents cannot run here: their traffic to other hosts must be blocked. */
export const findNetworkProblem = (): string | undefined =>
  canRunAlone(['true'])
    ? undefined
    : `agents run in an isolated network: that requires Linux, ${neededPrograms.join(', ')}, ` +
      'and permission to create network namespaces'

function resultIn(line: string): Result[] {
  if (!line.startsWith('{')) return []
  try {
    const { case: name, ok, detail } = JSON.parse(line)
    return [{ case: String(name), ok, detail: String(detail) }]
  } catch {
    return []
  }
}

/** Runs the cases of an agent; a case without a result is a failure. */
export async function runAgentAlone(agent: Agent, prepared: Prepared): Promise<Result[]> {
  const selected = JSON.stringify([{ name: agent.name, prepared }])
  const child = Bun.spawn([...isolatedNetworkCommand, process.execPath, main, selected], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  await child.exited
  const results = stdout.split('\n').flatMap(resultIn)
  const missing = casesOf(agent).filter((name) => !results.some((one) => one.case === name))
  const detail = `no result: ${stderr.trim().slice(-300)}`
  return [...results, ...missing.map((name) => ({ case: name, ok: false, detail }))]
}
