import {
  Anchor,
  Button,
  Code,
  CopyButton,
  Group,
  Paper,
  Stack,
  Tabs,
  Text,
  Title,
} from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, json } from '../../api'
import { Problem } from '../../components/problem'
import { keysQuery } from '../../keys'
import { serviceQuery } from '../../service'
import { useSubmit } from '../../submit'
import { snippets } from './snippets'

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
  const [known] = keys
  const [key, setKey] = useState<string>()
  const { submit, isBusy, error } = useSubmit(async () => {
    const made = await (await api.account.keys.$post(undefined, json({ name: 'First key' }))).json()
    setKey(made.key)
    await queries.invalidateQueries({ queryKey: ['keys'] })
  })
  return (
    <Stack gap="xs" align="flex-start">
      <Title order={3} size="h5">
        1. Create an API key
      </Title>
      <Problem error={error} />
      {key === undefined && known && (
        <Text size="sm">
          You already have the key <Code>{known.key_prefix}…</Code>, which was shown when it was
          created. If it is lost, create another.
        </Text>
      )}
      {key === undefined ? (
        <Button
          {...(known && { variant: 'default' })}
          loading={isBusy}
          onClick={() => void submit(undefined)}
        >
          Create key
        </Button>
      ) : (
        <>
          <Text size="sm">Copy the key now. It is not shown again.</Text>
          <Copyable text={`export TOLLGATE_KEY=${key}`} what="key" />
        </>
      )}
    </Stack>
  )
}

function Snippets() {
  const { data } = useQuery(serviceQuery)
  const base = `${data?.base_url ?? window.location.origin}/v1`
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        2. Send a request
      </Title>
      <Text size="sm">
        Any OpenAI client works with the base URL <Code>{base}</Code> and your API key.
      </Text>
      <Tabs defaultValue={snippets[0].name}>
        <Tabs.List>
          {snippets.map(({ name }) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippets.map(({ name, code }) => (
          <Tabs.Panel key={name} value={name} pt="sm">
            <Copyable text={code(base)} what={`${name} example`} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}

const Copyable = ({ text, what }: { text: string; what: string }) => (
  <Stack gap="xs" w="100%">
    <Code block tabIndex={0}>
      {text}
    </Code>
    <Group>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="xs" variant="light" onClick={copy} aria-label={`Copy the ${what}`}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  </Stack>
)
