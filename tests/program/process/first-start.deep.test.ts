import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { launch } from './launch'
import { paste } from './paste'
import { newDataDir } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

/** What a first start makes, in its order, by the beginnings of the names. */
const made: [folder: string, name: string][] = [
  ['.', 'tollgate.pid'],
  ['postgres', 'draft-'],
  ['postgres', 'password'],
  ['postgres', 'cluster'],
  ['postgres', 'socket'],
  ['.', 'journal-'],
  ['.', 'first-key'],
]

function has(dataDir: string, folder: string, name: string): boolean {
  try {
    return readdirSync(join(dataDir, folder)).some((each) => each.startsWith(name))
  } catch {
    // The folder is not there yet.
    return false
  }
}

test.each(made.map(([, name], at) => [name, made.slice(at)] as const))(
  'killed in its first start, once there is %s, it starts again, with a key that works',
  async (_name, madeByThen) => {
    const dataDir = await newDataDir()
    const first = launch({ DATA_DIR: dataDir })
    // A draft is renamed: what is made later tells of it as well.
    await eventually(() => madeByThen.some((each) => has(dataDir, ...each)), 60_000)
    first.kill('SIGKILL')
    await first.exited
    await using again = launch({ DATA_DIR: dataDir })
    await again.ready()
    expect(paste(again.out()).exitCode).toBe(0)
    await again[Symbol.asyncDispose]()
    await rm(dataDir, { recursive: true })
  },
  120_000,
)
