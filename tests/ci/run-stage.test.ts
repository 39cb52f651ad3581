import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../server/testing/eventually'
import { stageOf } from './fixture'
import { runStage } from './run-stage'
import type { Stage } from './stages'

const suite = (tests: string) =>
  `printf '<testsuites><testsuite file="a.test.ts" time="1">${tests}</testsuite></testsuites>' > $TEST_JUNIT.xml`

const scripts = {
  passes: suite('<testcase name="a"/>'),
  fails: `${suite('<testcase name="a" file="a.test.ts"><failure type="Error" message="no"/></testcase>')}; exit 1`,
  empty: suite(''),
  dies: 'echo out of memory; exit 137',
  hangs: 'echo $$ > new.pid; mv new.pid hanging.pid; sleep 600',
}

let root: string
const run = (fields: Partial<Stage>) =>
  runStage(stageOf(fields), { root, folder: join(root, 'ci') })

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tollgate-stage-'))
  await mkdir(join(root, 'ci'))
  await writeFile(join(root, 'package.json'), JSON.stringify({ name: 'stages', scripts }))
})
afterAll(() => rm(root, { recursive: true }))

test('a stage passes with its tests', async () => {
  const { report, problems } = await run({ script: 'passes' })
  expect([report.passed, report.failed, problems]).toEqual([1, 0, []])
})

test('a stage whose tests fail has no other problem', async () => {
  const { report, problems } = await run({ script: 'fails' })
  expect([report.failures.map(({ test: name }) => name), problems]).toEqual([['a'], []])
})

test.each([
  ['a stage that ran no test', { script: 'empty' }, ['it ran no test']],
  ['a stage that dies', { script: 'dies' }, ['exit code 137, and no test is named']],
  [
    'a command that fails',
    { script: 'dies', hasTests: false },
    ['exit code 137, and no test is named'],
  ],
])('%s is red', async (_name, fields, expected) => {
  const { problems, tail } = await run(fields)
  expect(problems).toEqual(expected)
  if (fields.script === 'dies') expect(tail).toEndWith('out of memory')
})

test('a stage that does not end is killed with its processes, and is red', async () => {
  const pidPath = join(root, 'hanging.pid')
  // A slow machine may need longer to start it.
  for (let seconds = 2; !existsSync(pidPath); seconds *= 2) {
    const { problems } = await run({ script: 'hangs', limitMinutes: seconds / 60 })
    expect(problems).toEqual([`it did not end within ${seconds / 60} minutes`])
  }
  const pid = Number(await Bun.file(pidPath).text())
  await eventually(() => !isRunning(pid))
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
