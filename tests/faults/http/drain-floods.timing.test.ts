import { readFileSync } from 'node:fs'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { recordFigure } from '../../../server/testing/figures'
import { forFile } from '../../harness/for-file'
import { floodKinds, startFloodedGateway } from './drain-flood'

setDefaultTimeout(120_000)

const flooded = forFile(startFloodedGateway, (opened) => opened[Symbol.asyncDispose]())

/** Returns the milliseconds of processor time that a process has had. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
  const ticks = Number(fields?.[11]) + Number(fields?.[12])
  return ticks * 10
}

test.each(floodKinds)(
  'finding S11: a drain is bounded in processor time: a flood of %s',
  async (kind) => {
    const { flood, gateway, leaveStream } = flooded()
    flood.with(kind)
    for (let k = 0; k < 3; k++) await leaveStream()
    await Bun.sleep(1000)
    flood.cut()
    // What is on its way is read; less than one account may have for all of its drains.
    await Bun.sleep(2000)
    const before = cpuMs(gateway.pid)
    await Bun.sleep(6000)
    recordFigure(
      `finding S11: 6 s after a flood of ${kind} ended, the gateway still used`,
      cpuMs(gateway.pid) - before,
      { unit: 'ms of CPU', atMost: 2000 },
    )
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  },
)
