/** Where the packages of a language come from. */
const registries = {
  node: 'https://registry.npmjs.org/',
  python: 'https://pypi.org/simple/',
  go: 'https://proxy.golang.org/',
  java: 'https://repo.maven.apache.org/maven2/',
}

const patienceMs = 30_000

/** Whether the registry of a language answers at all: without one nothing can be installed. */
export async function hasRegistry(language: keyof typeof registries): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(patienceMs)
    await fetch(registries[language], { method: 'HEAD', redirect: 'manual', signal })
    return true
  } catch {
    return false
  }
}
