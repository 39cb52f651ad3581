import { afterEach, expect, test } from 'bun:test'
import { rm, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { untilRead } from './launch'
import { startAtTerminal } from './terminal'
import { openRaw, type RawClient } from '../../harness/raw-client'
import { eventually } from '../../../server/testing/eventually'
import { newDataDir } from '../../harness/server'
import { recordTimeFigure } from '../../../server/testing/figures'

const directories: string[] = []
afterEach(async () => {
  for (const path of directories.splice(0)) await rm(path, { recursive: true, force: true })
})

/** A server at a terminal with so many requests that never end by themselves. */
async function busy(count: number, environment: Record<string, string> = {}) {
  const dataDir = await newDataDir('started')
  directories.push(dataDir)
  const server = startAtTerminal({ DATA_DIR: dataDir, DRAIN_SECONDS: '60', ...environment })
  const [, port = ''] = await server.shows(/is ready at http:\/\/localhost:(\d+)/)
  const key = (await readFile(join(dataDir, 'first-key'), 'utf8')).trim()
  const clients: RawClient[] = []
  for (let nth = 0; nth < count; nth += 1) {
    const client = await openRaw(`http://127.0.0.1:${port}`)
    // Its body never comes.
    await client.send(
      'POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
        `Authorization: Bearer ${key}\r\nContent-Length: 100\r\n\r\n{`,
    )
    clients.push(client)
  }
  await untilRead(`http://127.0.0.1:${port}`)
  return {
    server,
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

test('N6: Ctrl-C shows the number of running requests, and a second one ends at once', async () => {
  await using fixture = await busy(3, { LOG_LEVEL: 'error' })
  const { server } = fixture
  server.type('\x03')
  await server.shows(/stopping, 3 requests running; Ctrl-C again to end now\r?\n/)
  // One keypress may come as two signals: what follows within a second is taken for the same, and so it is typed again.
  let code: number | undefined
  void server.exited.then((exitCode) => (code = exitCode))
  const typeUntilEnd = () =>
    eventually(() => {
      if (code === undefined) server.type('\x03')
      return code !== undefined
    })
  await recordTimeFigure('N6: the end by a second Ctrl-C', { atMost: 10_000 }, typeUntilEnd)
  expect(code).toBe(130)
})

test('N6: without requests it reports so, and ends by itself', async () => {
  await using fixture = await busy(0)
  fixture.server.type('\x03')
  await fixture.server.shows(/stopping, 0 requests running/)
  expect(await fixture.server.exited).toBe(0)
})
