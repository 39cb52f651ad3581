/** A request the sandbox refuses, in the words and the shape of OpenAI's errors. */
export class SandboxRefusal extends Error {
  readonly status: 400 | 404
  readonly param: string | null
  readonly code: string | null

  constructor(
    message: string,
    options: { status?: 400 | 404; param?: string | null; code?: string | null } = {},
  ) {
    super(message)
    this.name = 'Refusal'
    this.status = options.status ?? 400
    this.param = options.param ?? null
    this.code = options.code ?? null
  }
}

/** Returns `{error: {message, type, param, code}}`; an error that is no `SandboxRefusal` is a 500. */
export function toErrorResponse(thrown: unknown): Response {
  if (thrown instanceof SandboxRefusal) {
    const { status, message, param, code } = thrown
    return Response.json(
      { error: { message, type: 'invalid_request_error', param, code } },
      { status },
    )
  }
  const message = 'The sandbox failed to answer.'
  return Response.json(
    { error: { message, type: 'server_error', param: null, code: null } },
    { status: 500 },
  )
}
