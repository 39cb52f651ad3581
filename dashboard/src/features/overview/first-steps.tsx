import { Anchor, Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client'
import { Problem } from '../../components/problem'
import { keysQuery } from '../keys/queries'
import { serviceQuery } from '../../api/installation'
import { useSubmit } from '../../components/use-submit'
import { CodeTabs, Copyable } from '../../components/code-tabs'
import { examplesOf } from '../models/code'

/** Onboarding of a new account; disappears after the first request. */
export const FirstSteps = () => (
  <Paper withBorder p="lg">
    <Stack gap="lg">
      <Group justify="space-between" gap="sm">
        <div>
          <Title order={2} size="h4">
            Your first request
          </Title>
          <Text size="sm" c="dimmed">
            Figures and charts appear after your first request.
          </Text>
        </div>
        <Button variant="default" renderRoot={(props) => <Link to="/playground" {...props} />}>
          Try the playground
        </Button>
      </Group>
      <FirstKey />
      <Snippets />
      <Text size="sm">
        The model <Code>sandbox/echo</Code> responds without a provider and is free. Everything else
        is in the{' '}
        <Anchor href="/docs" underline="always" size="sm">
          API reference
        </Anchor>
        .
      </Text>
    </Stack>
  </Paper>
)

function FirstKey() {
  const queries = useQueryClient()
  const { data: keys = [] } = useQuery(keysQuery)
  const [existing] = keys
  const [key, setKey] = useState<string>()
  const { submit, isBusy, error } = useSubmit(async () => {
    const created = await bodyOf(api.POST('/api/account/keys', { body: { name: 'First key' } }))
    setKey(created.key)
    await queries.invalidateQueries({ queryKey: ['keys'] })
  })
  return (
    <Stack gap="xs" align="flex-start">
      <Title order={3} size="h5">
        1. Create an API key
      </Title>
      <Problem error={error} />
      {key === undefined && existing && (
        <Text size="sm">
          You already have the key {existing.name} (<Code>{existing.key_prefix}…</Code>), which was
          shown when it was created. If it is lost, create another.
        </Text>
      )}
      {key === undefined ? (
        <Button
          {...(existing && { variant: 'default' })}
          loading={isBusy}
          onClick={() => void submit(undefined)}
        >
          Create key
        </Button>
      ) : (
        <>
          <Text size="sm">Copy the key now. It is not shown again.</Text>
          <Copyable text={`export TOLLGATE_KEY=${key}`} label="key" />
        </>
      )}
    </Stack>
  )
}

function Snippets() {
  const { data } = useQuery(serviceQuery)
  const base = `${data?.base_url ?? window.location.origin}/v1`
  const examples = examplesOf({ base, model: 'sandbox/echo', category: 'chat' })
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        2. Send a request
      </Title>
      <Text size="sm">
        Any OpenAI client works with the base URL <Code>{base}</Code> and your API key.
      </Text>
      <CodeTabs examples={examples} />
    </Stack>
  )
}
