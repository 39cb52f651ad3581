import { Code, Group, ScrollArea, Text, Title } from '@mantine/core'
import { Copy } from '../../components/copy'
import { toPrettyJson } from '../../format/json'
import type { StoredBodies } from './stored-bodies'

/** Formats JSON; other bodies are returned unchanged. */
function readable(body: string): string {
  try {
    return toPrettyJson(JSON.parse(body))
  } catch {
    return body
  }
}

/** The bodies of a request, as far as they were stored. */
export const LogBodies = ({ request_body: request, response_body: response }: StoredBodies) =>
  (request ?? response ?? null) === null ? (
    <Text size="sm" c="dimmed">
      Request and response bodies were not stored. They are stored if the operator allows it and
      your settings enable it.
    </Text>
  ) : (
    <>
      <Body name="Request body" body={request} />
      <Body name="Response body" body={response} />
    </>
  )

const Body = ({ name, body }: { name: string; body: string | null | undefined }) =>
  typeof body === 'string' && (
    <section>
      <Group justify="space-between" mb={4}>
        <Title order={3} size="h5">
          {name}
        </Title>
        <Copy label="Copy" value={body} />
      </Group>
      <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0, 'aria-label': name }}>
        <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {readable(body)}
        </Code>
      </ScrollArea.Autosize>
    </section>
  )
