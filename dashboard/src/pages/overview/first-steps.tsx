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

/** How a new account begins. It is gone once there was a request. */
export const FirstSteps = () => (
  <Paper withBorder p="lg">
    <Stack gap="lg">
      <Group justify="space-between" gap="sm">
        <div>
          <Title order={2} size="h4">
            Your first request
          </Title>
          <Text size="sm" c="dimmed">
            Figures and charts are here as soon as there is something to tell.
          </Text>
        </div>
        <Button variant="default" renderRoot={(props) => <Link to="/playground" {...props} />}>
          Ask in the playground
        </Button>
      </Group>
      <FirstKey />
      <Snippets />
      <Text size="sm">
        The model <Code>sandbox/echo</Code> answers without a provider and costs nothing. Everything
        else is in the{' '}
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
        1. Have a key
      </Title>
      <Problem error={error} />
      {key === undefined && known && (
        <Text size="sm">
          You have one, <Code>{known.key_prefix}…</Code>, which was shown when it was made. Is it
          lost? Make another.
        </Text>
      )}
      {key === undefined ? (
        <Button
          {...(known && { variant: 'default' })}
          loading={isBusy}
          onClick={() => void submit(undefined)}
        >
          Make a key
        </Button>
      ) : (
        <>
          <Text size="sm">Keep it now: it is shown only this once.</Text>
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
        2. Ask
      </Title>
      <Text size="sm">
        Any OpenAI client works with the base URL <Code>{base}</Code> and a key of yours.
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
