import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sampled } from '@tollgate/server/testing/depth'
import { recordTimeFigure } from '@tollgate/server/testing/figures'
import { eventually } from '@tollgate/server/testing/eventually'
import { TestClock } from '@tollgate/server/testing/clock'
import type { Clock } from '@tollgate/server/platform/clock'
import { Toolbox } from './toolbox'
import { ToolServer, type Callable } from './tool-server'
import { pause } from '../pause'

const program = join(import.meta.dir, 'program-for-tests.ts')
const everything = ['add', 'environment', 'pid', 'fail', 'long', 'wait', 'die', 'picture', 'large']
const secret = 'hunter22-hunter22'
const hide = (text: string) => text.replaceAll(secret, '[secret]')
const never = new AbortController().signal
const limits = { signal: never, timeoutMs: 30_000, maxBytes: 100_000 }

interface Wanted {
  mode?: string
  allow?: string[]
  reach?: { command: string; args: string[] }
}

function settings({ mode = '', allow = everything, reach }: Wanted) {
  const environment = { PATH: process.env['PATH'] ?? '', MODE: mode, MY_SECRET: secret }
  const own = { command: process.execPath, args: [program], ...reach }
  return { name: 'mine', allow, reach: { ...own, environment, configured: { MODE: mode } } }
}

async function started(wanted: Wanted = {}, clock?: Clock) {
  const logLines: string[] = []
  const log = (_level: string, _event: string, message: string) => void logLines.push(message)
  const changes = { count: 0 }
  const timing = clock ? { clock } : { firstMs: 100 }
  const server = new ToolServer(settings(wanted), { log, hide, ...timing })
  await server.start(() => (changes.count += 1))
  const tool = (name: string): Callable => {
    const found = server.tools.find(({ announced }) => announced.name === `mine_${name}`)
    if (!found) throw new Error(`there is no ${name}`)
    return found
  }
  return {
    server,
    logLines,
    changes,
    tool,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    // A zombie is still in the process table.
    const stat = Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)]).stdout.toString()
    return stat.trim() !== '' && !stat.startsWith('Z')
  } catch {
    return false
  }
}

describe('tools', () => {
  test('are announced only where the owner allows them', async () => {
    await using one = await started({ allow: ['add', 'unknown'] })
    const [add, ...others] = one.server.tools.map(({ announced }) => announced)
    expect(others).toEqual([])
    expect(add).toMatchObject({
      name: 'mine_add',
      description: 'Adds two numbers',
      parameters: { type: 'object', required: ['a', 'b'] },
    })
    expect(one.logLines).toEqual(['mine has no unknown: allow names tools as their server does.'])
    expect(one.changes.count).toBe(1)
  })

  test('are run, with arguments that fit', async () => {
    await using one = await started()
    const add = one.tool('add')
    expect(await add.call({ a: 2, b: 3 }, limits)).toEqual({ content: '5', isError: false })
    const refused = await add.call({ a: 'two' }, limits)
    expect(refused).toMatchObject({ isError: true })
    expect(JSON.stringify(refused)).toContain('The arguments do not fit: ')
  })

  test('describe results that are not text, and report failures', async () => {
    await using one = await started()
    expect(await one.tool('picture').call({}, limits)).toEqual({
      content:
        'Look:\n[image is not shown: image/png]\nthe text of it\n[a link to https://example.com/b]',
      isError: false,
    })
    expect(await one.tool('fail').call({}, limits)).toEqual({
      content: 'it failed with [secret]',
      isError: true,
    })
  })

  test('inherit only the variables that they need', async () => {
    await using one = await started()
    const outcome = await one.tool('environment').call({}, limits)
    expect('content' in outcome ? outcome.content.split(' ') : []).toEqual([
      'MODE',
      'MY_SECRET',
      'PATH',
    ])
  })

  test('with a result beyond the maximum are truncated, with a note', async () => {
    await using one = await started()
    const outcome = await one.tool('long').call({}, { ...limits, maxBytes: 1001 })
    const content = 'content' in outcome ? outcome.content : ''
    expect(content).toEndWith('\n[cut: this is the beginning of 600000 bytes]')
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(1001)
    expect(Buffer.byteLength(content)).toBeGreaterThan(990)
  })

  test('are abandoned with the reason when they take too long', async () => {
    await using one = await started()
    const signal = AbortSignal.timeout(100)
    await expect(one.tool('wait').call({}, { ...limits, signal })).rejects.toThrow('timed out')
    expect(await one.tool('add').call({ a: 1, b: 1 }, limits)).toMatchObject({ content: '2' })
  })

  test('with a schema beyond bounds are left out', async () => {
    await using one = await started({ mode: 'large' })
    expect(one.server.tools.map(({ announced }) => announced.name)).not.toContain('mine_large')
    expect(one.logLines.join()).toContain('large of mine: its schema is too large')
  })
})

describe('a tool server', () => {
  test('is restarted after it dies, and its tools are unavailable meanwhile', async () => {
    await using one = await started()
    const before = one.server.tools.length
    const outcome = await one.tool('die').call({}, limits)
    expect(outcome).toMatchObject({ sent: true })
    await eventually(() => one.server.tools.length === 0 || one.changes.count >= 2)
    await eventually(() => one.server.tools.length === before)
    expect(one.logLines.join()).toContain('The tools of mine are unavailable: I have to go now')
    expect(one.changes.count).toBe(3)
    expect(await one.tool('add').call({ a: 1, b: 1 }, limits)).toMatchObject({ content: '2' })
  })

  test('is logged once, without secrets, and retried when it cannot start', async () => {
    const clock = new TestClock()
    await using one = await started({ mode: 'dead' }, clock)
    expect(one.server.tools).toEqual([])
    for (let retries = 0; retries < 2; retries += 1) {
      await eventually(() => clock.pending === 1)
      // It starts again, and nothing waits before it has failed again.
      await clock.advance(60_000)
      expect(clock.pending).toBe(0)
    }
    await eventually(() => clock.pending === 1)
    expect(one.logLines).toEqual([
      'The tools of mine are unavailable: there is no [31mlicence for [secret]',
    ])
  })

  test('is logged by its name when it is not installed', async () => {
    await using one = await started({ reach: { command: 'no-such-program', args: [] } })
    expect(one.logLines[0]).toStartWith(
      'The tools of mine are unavailable: no-such-program cannot be run',
    )
  })

  test('works although it prints other lines beside its messages', async () => {
    await using one = await started({ mode: 'noisy' })
    expect(await one.tool('add').call({ a: 1, b: 1 }, limits)).toMatchObject({ content: '2' })
  })

  test('is ended when it writes an endless line', async () => {
    await using one = await started({ mode: 'endless' })
    expect(one.logLines[0]).toBe('The tools of mine are unavailable: it wrote a line without end')
  })

  test.each([
    ['', { command: process.execPath, args: [program] }],
    ['stubborn', { command: process.execPath, args: [program] }],
    ['behind a shell', { command: 'sh', args: ['-c', `"${process.execPath}" "${program}"; true`] }],
  ])('ends with its agent (%s)', async (mode, reach) => {
    const one = await started({ mode, reach })
    const outcome = await one.tool('pid').call({}, limits)
    const pid = Number('content' in outcome ? outcome.content : '')
    expect(isAlive(pid)).toBe(true)
    await recordTimeFigure(`its end with its agent (${mode})`, { atMost: 6000 }, async () => {
      await one.server[Symbol.asyncDispose]()
      await eventually(() => !isAlive(pid))
    })
  })
})

test('a toolbox finds tools of all its servers by their announced names', async () => {
  await using toolbox = new Toolbox(
    [settings({ allow: ['add'] }), { ...settings({ allow: ['add'] }), name: 'other' }],
    { log: () => undefined, hide },
  )
  await toolbox.start(() => undefined)
  expect(toolbox.tools.map(({ name }) => name)).toEqual(['mine_add', 'other_add'])
  expect(await toolbox.find('other_add')?.call({ a: 1, b: 2 }, limits)).toMatchObject({
    content: '3',
  })
  expect(toolbox.find('mine_pid')).toBeUndefined()
})

const stopping = (one: Bun.TCPSocketListener) => ({ one, [Symbol.dispose]: () => one.stop(true) })

describe('N3: a tool server that is stopped while it starts', () => {
  const stubborn = 'a program that is silent and never exits'
  const reaches = {
    'a program': {},
    [stubborn]: { reach: { command: 'sh', args: ['-c', 'trap "" TERM; sleep 600 & wait'] } },
  }

  test.each(Object.keys(reaches))(
    'ends, and leaves no process: %s',
    async (name) => {
      const wanted = name === stubborn ? reaches[stubborn] : {}
      // From before its process is there, to after its first answer.
      for (const afterMs of sampled([undefined, 0, 1, 5, 10, 20, 40, 80, 160], 8)) {
        const mark = Bun.randomUUIDv7()
        const given = settings(wanted)
        given.reach.args.push(mark)
        const server = new ToolServer(given, { log: () => undefined, hide, firstMs: 100 })
        const starting = server.start(() => undefined)
        if (afterMs !== undefined) await pause(afterMs, never)
        const ending = server[Symbol.asyncDispose]().then(() => 'ended')
        expect([afterMs, await Promise.race([ending, pause(30_000, never)])]).toEqual([
          afterMs,
          'ended',
        ])
        await starting
        const { stdout } = Bun.spawnSync(['ps', '-ww', '-eo', 'args='])
        expect([afterMs, stdout.toString().includes(mark)]).toEqual([afterMs, false])
      }
    },
    120_000,
  )

  test('ends where an address answers nothing', async () => {
    using silent = stopping(
      Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } }),
    )
    const url = `http://127.0.0.1:${silent.one.port}/mcp`
    const server = new ToolServer(
      { name: 'mine', allow: [], reach: { url } },
      { log: () => undefined, hide },
    )
    const starting = server.start(() => undefined)
    await pause(100, never)
    const ending = server[Symbol.asyncDispose]().then(() => 'ended')
    expect(await Promise.race([ending, pause(30_000, never)])).toBe('ended')
    await starting
  })
})
