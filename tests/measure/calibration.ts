import { createServer, connect, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { machineUse, readMachine } from '../ci/machine'

/** The speed of the machine: what does not depend on the product, measured beside what does. */
export interface Calibration {
  /** Milliseconds of a fixed computation, the least of several. */
  spinMs: number
  /** Microseconds of a round trip of one byte over loopback, the median of many. */
  loopbackUs: number
  /** The processors' share that other virtual machines took meanwhile, in percent; 0 where it is not counted. */
  stolenPercent: number
}

/** By what the machine may differ between two calibrations and still count as the same. */
const maxChange = { spin: 1.15, loopback: 1.5, stolenPercent: 5 }

const spins = 7
const roundTrips = 2000

/** Measures the machine; takes about two seconds. */
export async function calibrate(): Promise<Calibration> {
  const before = await readMachine()
  const spinMs = Math.min(...Array.from({ length: spins }, spin))
  const loopbackUs = await measureLoopback()
  const { stolenPercent = 0 } = machineUse(before, await readMachine())
  return { spinMs, loopbackUs, stolenPercent }
}

/** Computes the same each time: integer arithmetic that no engine can leave out. */
function spin(): number {
  const startedAtMs = performance.now()
  let state = 1
  for (let turn = 0; turn < 20_000_000; turn++) state = (Math.imul(state, 48_271) + turn) | 0
  if (state === 0.5) throw new Error('unreachable')
  return performance.now() - startedAtMs
}

async function measureLoopback(): Promise<number> {
  const server: Server = createServer((socket) => socket.pipe(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const socket: Socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    const times: number[] = []
    for (let trip = 0; trip < roundTrips; trip++) {
      const startedAtMs = performance.now()
      socket.write('x')
      await once(socket, 'data')
      times.push(1000 * (performance.now() - startedAtMs))
    }
    return times.toSorted((one, other) => one - other)[roundTrips / 2] ?? Number.NaN
  } finally {
    socket.destroy()
    server.close()
  }
}

/** Tells whether all calibrations are of one machine that did not change. */
export function isSteady(calibrations: readonly Calibration[]): boolean {
  const spreadOf = (pick: (calibration: Calibration) => number) => {
    const values = calibrations.map(pick)
    return Math.max(...values) / Math.min(...values)
  }
  return (
    spreadOf(({ spinMs }) => spinMs) <= maxChange.spin &&
    spreadOf(({ loopbackUs }) => loopbackUs) <= maxChange.loopback &&
    calibrations.every(({ stolenPercent }) => stolenPercent <= maxChange.stolenPercent)
  )
}

/** Formats a calibration for the report. */
export const describeCalibration = ({ spinMs, loopbackUs, stolenPercent }: Calibration): string =>
  `spin ${spinMs.toFixed(1)} ms, loopback ${loopbackUs.toFixed(0)} µs, steal ${stolenPercent.toFixed(0)} %`
