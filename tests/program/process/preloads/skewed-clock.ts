import { existsSync, readFileSync } from 'node:fs'

/**
 * Loaded before a gateway: its wall clock is wrong by as many milliseconds as the file `CLOCK_FILE`
 * says, read anew at SIGUSR2. Timers and the monotonic clock are left alone, as a step of the system's
 * clock leaves them.
 */
const path = process.env['CLOCK_FILE'] ?? ''
const RealDate = Date
let offsetMs = 0
const read = () => {
  offsetMs = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0
}
read()
process.on('SIGUSR2', () => {
  read()
  process.stdout.write(`the clock is wrong by ${offsetMs} ms\n`)
})

class SkewedDate extends RealDate {
  constructor(...args: [] | [value: number | string | Date]) {
    if (args.length === 0) super(RealDate.now() + offsetMs)
    // Date's other forms are passed on as they are.
    else super(...args)
  }

  static override now(): number {
    return RealDate.now() + offsetMs
  }
}

Object.assign(globalThis, { Date: SkewedDate })
