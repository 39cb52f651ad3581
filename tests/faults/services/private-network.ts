import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ip } from './namespace'
import { RunningConnect } from '../../gateway/connect/run-connect'
import { eventually } from '../../../server/testing/eventually'

/** The cut direction: from the agent to Tollgate, back, or both; or an unplugged cable. */
export type Cut = 'up' | 'down' | 'both' | 'unplugged'

/** An event of the model server. */
interface AgentRecord {
  /** `left`: the client disconnected before the answer was complete. */
  event: 'listening' | 'asked' | 'said' | 'left'
  /** The content of the last message. */
  content: string
  /** Bytes sent until then. */
  sent?: number
  /** The number that was said, counted from 0. */
  number?: number
}

let count = 0

const unassignedAddress = '02:00:00:00:ff:ff'

/**
 * A network connected by a virtual cable, with a model server in it. Each side knows one address of the
 * other, without further routes. Opened inside `runInIsolatedNetwork`; ends with its creator.
 */
export class PrivateNetwork implements AsyncDisposable {
  /** The outer address, as seen from inside. */
  readonly outside: string
  /** The inner address, as seen from outside. */
  readonly inside: string
  readonly #server
  readonly #number = ++count
  readonly #records: AgentRecord[] = []
  readonly #agents: RunningConnect[] = []
  #rest = ''

  private constructor() {
    this.outside = `10.213.${this.#number}.1`
    this.inside = `10.213.${this.#number}.2`
    const script = join(import.meta.dir, 'model-server.ts')
    const run = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh', process.execPath, script]
    this.#server = Bun.spawn(['unshare', '--net', ...run], {
      env: { PATH: process.env['PATH'] },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    })
  }

  static async open(): Promise<PrivateNetwork> {
    const network = new PrivateNetwork()
    void network.#read()
    await eventually(() => network.#records.length > 0)
    network.#connect()
    return network
  }

  /** Returns the command to run a program inside. */
  get #enter(): string[] {
    return ['nsenter', `--net=/proc/${this.#server.pid}/ns/net`]
  }

  get #here(): string {
    return `tg${this.#number}`
  }

  /** Counts requests of the model server, or disconnects before a complete answer, by content. */
  count(event: AgentRecord['event'], content: string): number {
    return this.#records.filter((one) => one.event === event && one.content === content).length
  }

  /** Returns the bytes sent to a client that disconnected. */
  sent(content: string): number | undefined {
    return this.#records.find((one) => one.event === 'left' && one.content === content)?.sent
  }

  /** Returns how many numbers of a paced stream the model server has said. */
  said(content: string): number {
    const last = this.#records.findLast((one) => one.event === 'said' && one.content === content)
    return (last?.number ?? -1) + 1
  }

  /** Tells whether a program inside waits for a connection. */
  isConnecting(): boolean {
    return this.run('ss', '-Hnt', 'state', 'syn-sent').trim() !== ''
  }

  /** Lists the command lines of all processes inside. */
  programs(): string[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.flatMap((pid) => {
      try {
        const isInside = readlinkSync(`/proc/${pid}/ns/net`) === this.name
        return isInside ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')] : []
      } catch {
        // It has exited meanwhile.
        return []
      }
    })
  }

  /** The name of the interface in the kernel. */
  get name(): string {
    return readlinkSync(`/proc/${this.#server.pid}/ns/net`)
  }

  /** Starts `tollgate connect` inside. */
  connect(args: readonly string[], environment: Record<string, string>): RunningConnect {
    const agent = new RunningConnect(args, environment, this.#enter)
    this.#agents.push(agent)
    return agent
  }

  /** Runs a program inside, and returns its output. */
  run(...command: string[]): string {
    const { exitCode, stdout, stderr } = Bun.spawnSync([...this.#enter, ...command])
    if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`)
    return stdout.toString()
  }

  /** Silently drops all packets in that direction from now on. */
  cut(way: Cut): void {
    if (way === 'unplugged') this.run('ip', 'link', 'set', 'up0', 'down')
    // Packets go to a hardware address that does not exist: they are sent, and ignored by all.
    if (way === 'up' || way === 'both') this.#neighbourOfThem(unassignedAddress)
    if (way === 'down' || way === 'both') this.#neighbourOfOurs(unassignedAddress)
  }

  mend(): void {
    this.run('ip', 'link', 'set', 'up0', 'up')
    this.#neighbourOfThem(this.#macOf(1))
    this.#neighbourOfOurs(this.#macOf(2))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent[Symbol.asyncDispose]()))
    this.#server.kill('SIGKILL')
    await this.#server.exited
  }

  #connect(): void {
    const names = ['type', 'veth', 'peer', 'name', 'up0', 'address', this.#macOf(2)]
    const pid = String(this.#server.pid)
    ip('link', 'add', this.#here, 'address', this.#macOf(1), ...names, 'netns', pid)
    ip('address', 'add', `${this.outside}/30`, 'dev', this.#here)
    ip('link', 'set', this.#here, 'up')
    this.run('ip', 'address', 'add', `${this.inside}/30`, 'dev', 'up0')
    this.mend()
  }

  #macOf(side: 1 | 2): string {
    return `02:00:00:00:${this.#number.toString(16).padStart(2, '0')}:0${side}`
  }

  // Static neighbour entries: with ARP a cut in one direction would cut both.
  #neighbourOfThem(mac: string): void {
    this.run(
      'ip',
      'neigh',
      'replace',
      this.outside,
      'lladdr',
      mac,
      'nud',
      'permanent',
      'dev',
      'up0',
    )
  }

  #neighbourOfOurs(mac: string): void {
    ip('neigh', 'replace', this.inside, 'lladdr', mac, 'nud', 'permanent', 'dev', this.#here)
  }

  async #read(): Promise<void> {
    for await (const bytes of this.#server.stdout) {
      const lines = (this.#rest + new TextDecoder().decode(bytes)).split('\n')
      this.#rest = lines.pop() ?? ''
      for (const line of lines) this.#records.push(JSON.parse(line))
    }
  }
}
