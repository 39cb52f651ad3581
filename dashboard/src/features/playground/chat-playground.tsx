import { Button, Group, SimpleGrid, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { Page } from '../../components/page'
import { useConversation } from '../automation/use-conversation'
import { freeModelQuery } from '../models/queries'
import { Composer } from './composer'
import { Options, plain, type OptionFields } from './playground-options'
import { Pane } from './playground-pane'
import { Chats } from './saved-chats'

const route = getRouteApi('/home/playground')

type ChatPosition = ReturnType<typeof route.useSearch>

/** The state of the playground: one model, or two side by side. */
function usePlayground() {
  const { model: chosen, other, chat, other_chat: otherChat } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: free = '' } = useQuery(freeModelQuery('chat'))
  const [options, setOptions] = useState<OptionFields>(plain)
  const goTo = (position: ChatPosition) =>
    navigate({ search: (old) => ({ ...old, ...position }), replace: true })
  const go = (position: ChatPosition) => void goTo(position)
  const model = chosen ?? free
  const first = useConversation({
    id: chat,
    onBegun: (id) => go({ chat: id }),
    onLoaded: (loaded) => {
      setOptions((old) => ({ ...old, systemPrompt: loaded.systemPrompt }))
      return goTo({ model: loaded.model })
    },
  })
  const second = useConversation({
    id: otherChat,
    onBegun: (id) => go({ other_chat: id }),
    onLoaded: (loaded) => goTo({ other: loaded.model }),
  })
  const send = (text: string) => {
    const request = requestOf(options)
    void first.send(text, { model, ...request })
    if (other !== undefined) void second.send(text, { model: other, ...request })
  }
  return { go, model, other, chat, first, second, send, options, setOptions }
}

const numberOf = (field: number | string) => (field === '' ? undefined : Number(field))

const requestOf = ({ systemPrompt, temperature, maxTokens }: OptionFields) => ({
  systemPrompt: systemPrompt.trim(),
  temperature: numberOf(temperature),
  max_tokens: numberOf(maxTokens),
})

/** Conversations with one model, or with two side by side. */
export function ChatPlayground({ kinds }: { kinds: ReactNode }) {
  const playground = usePlayground()
  const { go, model, other, chat, first, second, send, options, setOptions } = playground
  const [areOptionsOpen, drawer] = useDisclosure()
  const isComparing = other !== undefined
  const running = isComparing ? [first, second] : [first]
  return (
    <Page
      title="Playground"
      about="Try any available model. Requests are billed like API requests."
      actions={<Actions isComparing={isComparing} model={model} chat={chat} go={go} />}
    >
      {kinds}
      <Group align="flex-start" wrap="nowrap" gap="md">
        <Stack flex={1} miw={0}>
          <Panes playground={playground} running={running} />
          <Composer
            isReady={model !== '' && !running.some(({ isLoading }) => isLoading)}
            isBusy={running.some(({ isBusy }) => isBusy)}
            chat={chat}
            onSend={send}
            onStop={() => running.forEach(({ stop }) => stop())}
            onOptions={drawer.open}
            onSystem={(systemPrompt) => {
              setOptions({ ...options, systemPrompt })
              drawer.open()
            }}
          />
        </Stack>
        <Options
          isOpen={areOptionsOpen}
          onClose={drawer.close}
          options={options}
          onChange={setOptions}
        />
      </Group>
    </Page>
  )
}

type Playground = ReturnType<typeof usePlayground>

interface PanesProps {
  playground: Playground
  running: readonly Playground['first'][]
}

/** One conversation, or two side by side. */
const Panes = ({ playground: { go, model, other, first, second }, running }: PanesProps) => (
  <SimpleGrid cols={{ base: 1, md: running.length }}>
    <Pane
      {...first}
      label={other === undefined ? 'Model' : 'First model'}
      model={model}
      onModel={(name) => go({ model: name || undefined })}
    />
    {other !== undefined && (
      <Pane
        {...second}
        label="Second model"
        model={other}
        onModel={(name) => go({ other: name || model })}
      />
    )}
  </SimpleGrid>
)

interface ActionsProps {
  isComparing: boolean
  model: string
  chat: string | undefined
  go: (position: ChatPosition) => void
}

const alone: ChatPosition = { other: undefined, other_chat: undefined }

function Actions({ isComparing, model, chat, go }: ActionsProps) {
  const [areChatsOpen, chats] = useDisclosure()
  return (
    <Group gap="xs">
      <Button variant="default" onClick={chats.open}>
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
      {areChatsOpen && (
        <Chats
          openId={chat}
          onOpen={(id) => go({ ...alone, chat: id })}
          onDeleted={() => go({ chat: undefined })}
          onClose={chats.close}
        />
      )}
    </Group>
  )
}
