import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Journal } from './journal'
import type { Damage } from './replay'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Writes in a loop until it is killed; says what was confirmed, in the order it was. */
const writer = (round: number) => `
  const { writeSync } = await import('node:fs')
  const { Journal } = await import(${JSON.stringify(join(import.meta.dir, 'journal.ts'))})
  const journal = await Journal.open({ directory: ${JSON.stringify(directory)}, sync: 'always' })
  const body = 'x'.repeat(3000)
  let next = 0
  const lane = async () => {
    for (;;) {
      const id = 'att_${round}_' + next++
      await journal.begin(id, body)
      writeSync(1, 'begun ' + id + '\\n')
      await journal.settle(id, body)
      writeSync(1, 'settled ' + id + '\\n')
    }
  }
  for (let index = 0; index < 8; index++) void lane()
  for (;;) {
    await Bun.sleep(3)
    const rows = journal.settled(100)
    for (const { attemptId } of rows) writeSync(1, 'dropped ' + attemptId + '\\n')
    await journal.drop(rows.map(({ seq }) => seq))
  }`

/** Of each record there are three at most. */
const minLines = 100
const maxLines = 1100

const nextTurn = () => new Promise((resolve) => void setImmediate(resolve))

/** Lets it work until it has said some of those lines, and kills it a moment later. All that it said. */
async function killedAtWork(child: Bun.Subprocess<'ignore', 'pipe', 'inherit'>): Promise<string> {
  const decoder = new TextDecoder()
  let output = ''
  let isEnding = false
  const lines = minLines + Math.random() * (maxLines - minLines)
  for await (const bytes of child.stdout) {
    output += decoder.decode(bytes, { stream: true })
    if (isEnding || output.split('\n').length < lines) continue
    isEnding = true
    for (let turns = Math.random() * 200; turns > 0; turns--) await nextTurn()
    child.kill('SIGKILL')
  }
  return output
}

test('C01: keeps every confirmed row after each of 50 kills', async () => {
  const reported = {
    begun: new Set<string>(),
    settled: new Set<string>(),
    dropped: new Set<string>(),
  }
  let rotated = 0
  for (let round = 0; round < 50; round++) {
    const child = Bun.spawn([process.execPath, '-e', writer(round)], { stdout: 'pipe' })
    for (const line of (await killedAtWork(child)).split('\n').slice(0, -1)) {
      const [kind, id = ''] = line.split(' ')
      if (kind === 'begun' || kind === 'settled' || kind === 'dropped') reported[kind].add(id)
    }
    if (readdirSync(directory).some((name) => name.endsWith('.spare'))) rotated += 1
    const damages: Damage[] = []
    await using journal = await Journal.open({
      directory,
      sync: 'always',
      onDamage: (damage) => void damages.push(damage),
    })
    expect(damages).toEqual([])
    const rows = new Set(journal.settled(100_000).map(({ attemptId }) => attemptId))
    const open = new Set(journal.orphans().map(({ attemptId }) => attemptId))
    const gone = [...reported.settled].filter((id) => !rows.has(id) && !reported.dropped.has(id))
    expect(gone).toEqual([])
    const silent = [...reported.begun].filter(
      (id) => !open.has(id) && !rows.has(id) && !reported.dropped.has(id),
    )
    expect(silent).toEqual([])
    expect([...reported.settled].filter((id) => open.has(id))).toEqual([])
  }
  expect(rotated).toBeGreaterThan(10)
  expect(reported.settled.size).toBeGreaterThan(1000)
}, 300_000)
