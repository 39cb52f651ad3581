/**
 * Loaded before a gateway: the tools of self-hosted gateways are those of the server at `TOOLS_URL`,
 * which is the test's own (tests/api/automation/tool-server.ts).
 */
Bun.plugin({
  name: 'tools by HTTP',
  setup(build) {
    // Throws where the module has moved: without it sessions would have no tools.
    const replaced = Bun.resolveSync('../../../../server/src/server/tools.ts', import.meta.dir)
    build.onLoad({ filter: new RegExp(`^${RegExp.escape(replaced)}$`) }, () => ({
      loader: 'ts',
      contents: `
        import { ApiError } from '../errors'
        const url = process.env['TOOLS_URL']
        async function ask(path, body, signal) {
          const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body), signal })
          const answer = await response.json()
          if (response.ok) return answer
          throw new ApiError(answer.code)
        }
        export const createTools = () => ({
          of: async (id) => (await ask('/of', { id })).tools,
          call: (id, { signal, ...call }) => ask('/call', { id, ...call }, signal),
        })`,
    }))
  },
})
