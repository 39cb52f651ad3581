import { join } from 'node:path'
import { fixturesDir, hasFixtures } from '../harness/fixtures'
import type { Client } from './clients'
import { outputTail, runCommand } from './command'
import { requestAll } from './described'
import { startRecordingProxy } from './recording-proxy'
import type { Result, Fixture } from './fixture'

interface Bench {
  fixture: Fixture
  node: string
  /** The folder of its packages. */
  packages: string
}

/** A third-party program that checks compatibility with OpenAI's API. */
export interface Judge extends Client {
  /** The reason why it cannot run here. */
  missing?: string
  run: (bench: Bench) => Promise<Result[]>
}

/** Requests models, chat and responses, plain and streamed, a forced tool call, strict JSON. */
async function compatcanary({ fixture, node, packages }: Bench): Promise<Result[]> {
  const { environment } = await fixture.startClientRun('compatcanary')
  const script = join(packages, '.bin/compatcanary')
  const at = [
    '--base-url',
    `${environment['TOLLGATE_URL']}/v1`,
    '--model',
    environment['MODEL'] ?? '',
  ]
  const ended = await runCommand(
    [node, script, 'scan', ...at, '--profile', 'modern', '--format', 'json'],
    {
      env: { ...process.env, OPENAI_API_KEY: environment['TOLLGATE_KEY'] },
      limitSeconds: 120,
    },
  )
  if (!ended.stdout.startsWith('{')) throw new Error(outputTail(ended))
  const { results }: { results: { id: string; status: string; summary: string }[] } = JSON.parse(
    ended.stdout,
  )
  return results.map(({ id, status, summary }) => ({
    case: id,
    ok: status === 'pass',
    detail: summary,
  }))
}

const specification = join(fixturesDir, 'openai-openapi.json')

/** An upstream that validates requests against OpenAI's own description. */
async function steady({ fixture, packages }: Bench): Promise<Result[]> {
  await using proxy = await startRecordingProxy([
    join(packages, `@stdy/cli-${process.platform}-${process.arch}/bin/steady`),
    specification,
  ])
  return await requestAll(fixture.rig, proxy)
}

export const judges: readonly Judge[] = [
  {
    name: 'compatcanary',
    label: 'compatcanary, as a client',
    language: 'node',
    program: 'compatcanary',
    packages: ['compatcanary'],
    run: compatcanary,
  },
  {
    name: 'steady',
    label: 'steady, as the provider',
    language: 'node',
    program: 'steady',
    packages: ['@stdy/cli'],
    ...(!hasFixtures && { missing: "the folder with OpenAI's description is absent" }),
    run: steady,
  },
]
