import { z } from 'zod'

const Item = z.looseObject({
  type: z.string().describe('`message`, `reasoning`, `function_call` and others'),
  id: z.string(),
})

/** The documented Response. Source: contract 5.2. */
export const ResponseAnswer = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    status: z.enum(['completed', 'incomplete', 'failed', 'in_progress', 'queued', 'cancelled']),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z
      .looseObject({ reason: z.enum(['max_output_tokens', 'content_filter']) })
      .nullable(),
    model: z.string(),
    output: z.array(Item),
    usage: z
      .looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() })
      .optional(),
  })
  .meta({
    ref: 'Response',
    examples: [
      {
        id: 'resp_01m7zbr7rr3rrzfbtxk7716g95',
        object: 'response',
        created_at: 1795275104,
        status: 'completed',
        error: null,
        incomplete_details: null,
        model: 'sandbox/echo',
        output: [
          {
            id: 'msg_01m7zbr7rr3rrzfbtxk7716g95000',
            type: 'message',
            status: 'completed',
            role: 'assistant',
            content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'Hello!' }],
          },
        ],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      },
    ],
  })
