import { readFileSync } from 'node:fs'

/** Code that the engine compiled, and the time of compilation. */
interface Compiled {
  start: bigint
  end: bigint
  /** Nanoseconds of the monotonic clock. */
  since: bigint
  name: string
}

const pageBits = 12n
const recordHead = 16
const codeLoad = 0
const nameOffset = recordHead + 40

/**
 * Resolves the name of a function by its address and the time, from the file written by `BUN_JSC_useJITDump`:
 * addresses are reused when code is discarded.
 * @see https://github.com/torvalds/linux/blob/master/tools/perf/Documentation/jitdump-specification.txt
 */
export class JitSymbols {
  readonly #pages = new Map<bigint, Compiled[]>()

  constructor(path: string) {
    const bytes = readFileSync(path)
    for (let at = bytes.readUInt32LE(8); at + recordHead <= bytes.length;) {
      const size = bytes.readUInt32LE(at + 4)
      if (size === 0) break
      if (bytes.readUInt32LE(at) === codeLoad) this.#add(bytes, at)
      at += size
    }
  }

  /** Returns the function name, without the engine's compiler tier; undefined for glue and foreign code. */
  at(address: bigint, time: bigint): string | undefined {
    let found: Compiled | undefined
    for (const code of this.#pages.get(address >> pageBits) ?? []) {
      const { start, end, since } = code
      const isIn = start <= address && address < end && since <= time
      if (isIn && (!found || since > found.since)) found = code
    }
    const [, kind = '', name = ''] = /^JSC-(\w+): (.*)$/.exec(found?.name ?? '') ?? []
    return /Thunk|OSRExit/.test(kind) || name === '' ? undefined : name
  }

  #add(bytes: Buffer, at: number): void {
    const start = bytes.readBigUInt64LE(at + recordHead + 16)
    const end = start + bytes.readBigUInt64LE(at + recordHead + 24)
    const name = bytes.toString('utf8', at + nameOffset, bytes.indexOf(0, at + nameOffset))
    const code = { start, end, since: bytes.readBigUInt64LE(at + 8), name }
    for (let page = start >> pageBits; page <= end >> pageBits; page++) {
      const others = this.#pages.get(page)
      if (others) others.push(code)
      else this.#pages.set(page, [code])
    }
  }
}
