type Environment = Readonly<Record<string, string>>

/** The process of a gateway. */
export interface GatewayProcess {
  pid: number
  /** Returns all text written to both outputs until now. */
  output: () => string
  /** Processes that it started may run on. */
  hasExited: () => boolean
  /** The exit code, when it has ended and all its output is here; 128 + n after signal n. */
  exited: Promise<number>
}

/** Starts a process of its own; `command` is a path and arguments. */
export function spawnGateway(
  command: string[],
  options: { cwd: string; env: Environment },
): GatewayProcess {
  const child = Bun.spawn(command, { ...options, stdout: 'pipe', stderr: 'pipe' })
  const output = { text: '' }
  const reading = [child.stdout, child.stderr].map((stream) => collect(stream, output))
  return {
    pid: child.pid,
    output: () => output.text,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    exited: child.exited.then(async (code) => {
      await Promise.all(reading)
      return code
    }),
  }
}

async function collect(stream: ReadableStream<Uint8Array>, output: { text: string }) {
  const decoder = new TextDecoder()
  for await (const bytes of stream) output.text += decoder.decode(bytes, { stream: true })
}

/**
 * Starts a gateway in a process that runs others before and after it (`server/testing/serve-gateways.ts`); `unix` is
 * the socket of that service.
 */
export async function hostGateway(unix: string, env: Environment): Promise<GatewayProcess> {
  const response = await fetch('http://gateways/', {
    unix,
    method: 'POST',
    body: JSON.stringify(env),
    timeout: false,
  })
  if (!response.body) throw new Error('the service of gateways gave no answer')
  const state = { text: '', exitCode: undefined as number | undefined }
  const started = Promise.withResolvers<number>()
  const reading = readEvents(response.body, ({ pid, output, exitCode }) => {
    if (pid !== undefined) started.resolve(pid)
    state.text += output ?? ''
    state.exitCode ??= exitCode
  })
  void reading.catch(started.reject)
  return {
    pid: await started.promise,
    output: () => state.text,
    hasExited: () => state.exitCode !== undefined,
    exited: reading.then(() => state.exitCode ?? Number.NaN),
  }
}

interface HostEvent {
  pid?: number
  output?: string
  exitCode?: number
}

async function readEvents(
  stream: ReadableStream<Uint8Array>,
  onEvent: (event: HostEvent) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const bytes of stream) {
    const lines = (pending + decoder.decode(bytes, { stream: true })).split('\n')
    pending = lines.pop() ?? ''
    for (const line of lines) onEvent(JSON.parse(line))
  }
}
