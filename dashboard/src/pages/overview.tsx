import { Anchor, Code, CopyButton, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { Page } from '../components/page'

const example = (address: string) => `curl ${address}/v1/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello!"}]}'`

export function OverviewPage() {
  const command = example(window.location.origin)
  return (
    <Page title="Overview" about="How to begin.">
      <Paper withBorder p="lg">
        <Stack gap="sm">
          <Title order={4}>Your first request</Title>
          <Text size="sm">
            Any OpenAI client works with the base URL <Code>{window.location.origin}/v1</Code> and a
            key of yours. Without a provider, the model <Code>sandbox/echo</Code> answers.
          </Text>
          <Code block>{command}</Code>
          <Group>
            <CopyButton value={command}>
              {({ copied, copy }) => (
                <Button size="xs" variant="light" onClick={copy}>
                  {copied ? 'Copied' : 'Copy'}
                </Button>
              )}
            </CopyButton>
            <Anchor size="sm" href="/docs">
              API reference
            </Anchor>
          </Group>
        </Stack>
      </Paper>
    </Page>
  )
}
