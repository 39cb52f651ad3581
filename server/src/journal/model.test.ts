import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from '../../testing/property'
import { Journal } from './journal'
import { nodeFileSystem, type JournalFileSystem } from './file-system'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const openJournal = (fileSystem: JournalFileSystem) =>
  Journal.open({
    directory,
    sync: 'always',
    fileSystem,
    onDamage: ({ reason }) => expect(reason).toBe('none'),
  })

/** What a journal must say, by the shortest means. */
class Model {
  open = new Map<string, { body: string; isOrphan: boolean }>()
  settled: string[] = []
  /** An attempt begins once; what has ended never does again. */
  ended = new Set<string>()

  reopen() {
    for (const record of this.open.values()) record.isOrphan = true
  }
}

const attempt = fc.nat(6).map((index) => `att_${index}`)
const body = fc
  .oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constant('x'.repeat(700_000)))
  .map((text) => text.replaceAll('\n', ' '))
const command = fc.oneof(
  fc.record({ kind: fc.constantFrom('begin', 'settle'), attempt, body }),
  fc.record({ kind: fc.constant('drop' as const), limit: fc.nat(3) }),
  fc.record({ kind: fc.constantFrom('reopen', 'wait', 'full') }),
)
type Command = typeof command extends fc.Arbitrary<infer Each> ? Each : never

async function play(journal: Journal, model: Model, step: Command): Promise<void> {
  if ('limit' in step) {
    model.settled.splice(0, step.limit)
    return journal.drop(journal.settled(step.limit).map(({ seq }) => seq))
  }
  if (!('attempt' in step)) return
  const { kind, attempt, body } = step
  const open = model.open.get(attempt)
  if (kind === 'begin') {
    if (model.ended.has(attempt)) return
    model.open.set(attempt, { body, isOrphan: open?.isOrphan ?? false })
    await journal.begin(attempt, body)
  } else {
    model.open.delete(attempt)
    model.ended.add(attempt)
    model.settled.push(`${attempt} ${body}`)
    await journal.settle(attempt, body)
  }
}

test('matches the model for any sequence of begin, settle, drop and reopen', async () => {
  const property = fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (steps) => {
    for (const name of readdirSync(directory)) rmSync(join(directory, name))
    const model = new Model()
    let isFull = false
    const fileSystem: JournalFileSystem = {
      ...nodeFileSystem,
      sync: async () => undefined,
      write: (fd, bytes, offset) => {
        if (isFull) throw new Error('ENOSPC')
        return nodeFileSystem.write(fd, bytes, offset)
      },
    }
    let journal = await openJournal(fileSystem)
    let running: Promise<void>[] = []
    for (const step of [...steps, { kind: 'reopen' } as const]) {
      if (step.kind === 'full') {
        await Promise.all(running)
        isFull = true
        await expect(journal.settle('att_1', 'never')).rejects.toMatchObject({
          reason: 'unwritten',
        })
        isFull = false
      } else if ('limit' in step || !('attempt' in step)) {
        await Promise.all(running)
        running = []
      }
      running.push(play(journal, model, step))
      if (step.kind !== 'reopen') continue
      await journal.close()
      model.reopen()
      journal = await openJournal(fileSystem)
      const found = journal.settled(1000).map(({ attemptId, body }) => `${attemptId} ${body}`)
      expect(found).toEqual(model.settled)
      expect(journal.size).toBe(model.settled.length)
      const orphans = journal.orphans().map(({ attemptId, body }) => [attemptId, body] as const)
      expect(new Map(orphans)).toEqual(
        new Map([...model.open].map(([id, record]) => [id, record.body])),
      )
    }
    await journal.close()
  })
  await fc.assert(property, { numRuns: 100 })
})
