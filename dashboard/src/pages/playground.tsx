import { Button, Group, SimpleGrid } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api'
import { Page } from '../components/page'
import { useConversation } from '../conversation'
import { Composer } from './playground-composer'
import { Options, plain, type OptionFields } from './playground-options'
import { Pane } from './playground-pane'
import { Talks } from './playground-talks'

const route = getRouteApi('/home/playground')

/** A free model for users who have not selected one yet. */
const freeModelQuery = queryOptions({
  queryKey: ['models', 'free'],
  queryFn: async () => {
    const query = { category: 'chat', billing_mode: 'free', limit: '1' }
    const { models } = await (await api.models.$get({ query })).json()
    return models[0]?.id ?? ''
  },
  staleTime: Infinity,
})

type Place = ReturnType<typeof route.useSearch>

/** The state of the playground: one model, or two side by side. */
function usePlayground() {
  const { model: chosen, other, chat, other_chat: otherChat } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: free = '' } = useQuery(freeModelQuery)
  const [options, setOptions] = useState<OptionFields>(plain)
  const goTo = (place: Place) =>
    navigate({ search: (old) => ({ ...old, ...place }), replace: true })
  const go = (place: Place) => void goTo(place)
  const model = chosen ?? free
  const first = useConversation({
    id: chat,
    onBegun: (id) => go({ chat: id }),
    onFound: (asked) => {
      setOptions((old) => ({ ...old, systemPrompt: asked.systemPrompt }))
      return goTo({ model: asked.model })
    },
  })
  const second = useConversation({
    id: otherChat,
    onBegun: (id) => go({ other_chat: id }),
    onFound: (asked) => goTo({ other: asked.model }),
  })
  const send = (text: string) => {
    const asked = askedOf(options)
    void first.send(text, { model, ...asked })
    if (other !== undefined) void second.send(text, { model: other, ...asked })
  }
  return { go, model, other, chat, first, second, send, options, setOptions }
}

const numberOf = (field: number | string) => (field === '' ? undefined : Number(field))

const askedOf = ({ systemPrompt, temperature, maxTokens }: OptionFields) => ({
  systemPrompt: systemPrompt.trim(),
  temperature: numberOf(temperature),
  max_tokens: numberOf(maxTokens),
})

export function PlaygroundPage() {
  const { go, model, other, chat, first, second, send, options, setOptions } = usePlayground()
  const [areOptionsOpen, { toggle, open }] = useDisclosure()
  const isComparing = other !== undefined
  const running = isComparing ? [first, second] : [first]
  return (
    <Page
      title="Playground"
      about="Try any available model. Requests are billed like API requests."
      actions={<Actions isComparing={isComparing} model={model} chat={chat} go={go} />}
    >
      <SimpleGrid cols={{ base: 1, md: running.length }}>
        <Pane
          {...first}
          label={isComparing ? 'First model' : 'Model'}
          model={model}
          onModel={(name) => go({ model: name || undefined })}
        />
        {isComparing && (
          <Pane
            {...second}
            label="Second model"
            model={other}
            onModel={(name) => go({ other: name || model })}
          />
        )}
      </SimpleGrid>
      <Composer
        isReady={model !== '' && !running.some(({ isLoading }) => isLoading)}
        isBusy={running.some(({ isBusy }) => isBusy)}
        onSend={send}
        onStop={() => running.forEach(({ stop }) => stop())}
        onOptions={toggle}
        areOptionsOpen={areOptionsOpen}
        onSystem={(systemPrompt) => {
          setOptions({ ...options, systemPrompt })
          open()
        }}
      />
      <Options isOpen={areOptionsOpen} options={options} onChange={setOptions} />
    </Page>
  )
}

interface ActionsProps {
  isComparing: boolean
  model: string
  chat: string | undefined
  go: (place: Place) => void
}

const alone: Place = { other: undefined, other_chat: undefined }

function Actions({ isComparing, model, chat, go }: ActionsProps) {
  const [areTalksOpen, talks] = useDisclosure()
  return (
    <Group gap="xs">
      <Button variant="default" onClick={talks.open}>
        Conversations
      </Button>
      <Button
        variant="default"
        disabled={model === ''}
        onClick={() => go(isComparing ? alone : { other: model })}
      >
        {isComparing ? 'Single model' : 'Compare models'}
      </Button>
      <Button variant="default" onClick={() => go({ chat: undefined, other_chat: undefined })}>
        New
      </Button>
      {areTalksOpen && (
        <Talks
          openId={chat}
          onOpen={(id) => go({ ...alone, chat: id })}
          onGone={() => go({ chat: undefined })}
          onClose={talks.close}
        />
      )}
    </Group>
  )
}
