type Environment = Record<string, string | undefined>

export function engineEnvironment(given: Environment): {
  environment: Environment
  ignored: string[]
}

export function collectedBytes(memory?: number, processors?: number): number

export function agentEnvironment(given: Environment): Environment

export function ignoredProxies(names: readonly string[]): string
