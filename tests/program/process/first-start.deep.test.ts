import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { launch } from './launch'
import { paste } from './paste'
import { newDataDir } from '../../harness/server'

test('killed at any moment of its first start, it starts again, with a key that works', async () => {
  for (const afterMs of [100, 250, 400, 550, 700, 850, 1000]) {
    const dataDir = await newDataDir()
    const first = launch({ DATA_DIR: dataDir })
    await Bun.sleep(afterMs)
    first.kill('SIGKILL')
    await first.exited
    await using again = launch({ DATA_DIR: dataDir })
    await again.ready()
    expect([afterMs, paste(again.out()).exitCode]).toEqual([afterMs, 0])
    await again[Symbol.asyncDispose]()
    await rm(dataDir, { recursive: true })
  }
}, 300_000)
