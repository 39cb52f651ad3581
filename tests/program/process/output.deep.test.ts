import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../harness/free-port'
import { root } from '../../harness/run-command'
import { newDataDir } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

// A busy machine takes long to start one.
setDefaultTimeout(120_000)

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function newFolder(): Promise<string> {
  const path = await newDataDir('started')
  cleanups.push(() => rm(path, { recursive: true, force: true }))
  return path
}

async function newPipe() {
  const path = join(await newFolder(), 'pipe')
  Bun.spawnSync(['mkfifo', path])
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  return { reader, writer: openSync(path, constants.O_WRONLY) }
}

/** Fills a pipe, so that the next byte waits for a reader. */
function fill(pipe: number): void {
  try {
    for (;;) writeSync(pipe, 'x'.repeat(4096))
  } catch {
    // It is full.
  }
}

/** Standard outputs that take nothing. */
const names = ['a full disk', 'a pipe whose reader has gone', 'a pipe that is not read'] as const

const outputs: Record<(typeof names)[number], () => Promise<number>> = {
  'a full disk': async () => openSync('/dev/full', 'w'),
  'a pipe whose reader has gone': async () => {
    const { reader, writer } = await newPipe()
    closeSync(reader)
    return writer
  },
  'a pipe that is not read': async () => {
    const { reader, writer } = await newPipe()
    fill(reader)
    cleanups.push(() => closeSync(reader))
    return writer
  },
}

interface Start {
  name: (typeof names)[number]
  command?: string[]
  workers?: string
}

async function start({ name, command, workers = '1' }: Start) {
  const dataDir = await newFolder()
  // Without an output the server cannot say which ports it chose.
  const [port, metricsPort, fd] = [freePort(), freePort(), await outputs[name]()]
  const child = Bun.spawn(command ?? [process.execPath, 'server/src/main.ts'], {
    cwd: root,
    env: {
      PATH: process.env['PATH'] ?? '',
      TOLLGATE_BUN: process.execPath,
      DATA_DIR: dataDir,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      WORKERS: workers,
      LOCAL_DISCOVERY: 'false',
      LOG_LEVEL: 'info',
    },
    stdin: 'ignore',
    stdout: fd,
    stderr: 'pipe',
    detached: true,
  })
  closeSync(fd)
  cleanups.push(() => child.exitCode === null && process.kill(-child.pid, 'SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  const metricsUrl = `http://127.0.0.1:${metricsPort}`
  // Of workers these are served once all of them listen.
  await eventually(
    async () => (await isOk(`${url}/readyz`)) && (await isOk(`${metricsUrl}/readyz`)),
    60_000,
  )
  const key = (await readFile(join(dataDir, 'first-key'), 'utf8')).trim()
  return { child, url, key, metricsUrl }
}

function hasEnded(group: number): boolean {
  try {
    return !process.kill(group, 0)
  } catch {
    return true
  }
}

const isOk = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )

async function chat(url: string, key: string): Promise<number> {
  const { status } = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }),
  })
  return status
}

/** Has lines written, and expects answers meanwhile. */
async function expectService({ url, key }: { url: string; key: string }): Promise<void> {
  for (let nth = 0; nth < 60; nth += 1) expect(await chat(url, key)).toBe(200)
  expect(await isOk(`${url}/healthz`)).toBe(true)
  expect(await isOk(`${url}/readyz`)).toBe(true)
}

/** The lines that all processes have dropped. */
async function droppedLines(metricsUrl: string): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text()
  const samples = text.matchAll(/^tollgate_log_lines_dropped_total(?:\{.*\})? (\d+)$/gm)
  return [...samples].reduce((sum, [, value]) => sum + Number(value), 0)
}

describe.skipIf(process.platform !== 'linux').each(names)(
  'finding M20: with %s as its output',
  (name) => {
    test('a server serves, and ends with its exit code', async () => {
      const server = await start({ name })
      await expectService(server)
      // A pipe that is not read has a buffer before it.
      if (name !== 'a pipe that is not read')
        await eventually(async () => (await droppedLines(server.metricsUrl)) > 0)
      server.child.kill('SIGTERM')
      expect(await server.child.exited).toBe(0)
      expect(await new Response(server.child.stderr).text()).toBe('')
    })

    test('several workers serve, and end with their exit code', async () => {
      const server = await start({ name, workers: '2' })
      await expectService(server)
      server.child.kill('SIGTERM')
      expect(await server.child.exited).toBe(0)
      expect(await new Response(server.child.stderr).text()).toBe('')
    })

    test.each(['SIGINT', 'SIGTERM'] as const)(
      'finding N10: the launcher and its server end on a %s to both',
      async (signal) => {
        const command = ['node', join(root, 'bin/tollgate.mjs'), 'start']
        const server = await start({ name, command })
        await expectService(server)
        process.kill(-server.child.pid, signal)
        expect(await server.child.exited).toBe(0)
        await eventually(() => hasEnded(-server.child.pid))
      },
    )
  },
)
