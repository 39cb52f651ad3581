import { Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { collectionsQuery } from './queries'
import { CollectionTable } from './collection-table'
import { Empty } from '../../components/empty'
import { ListPage } from '../../components/list-page'
import { CollectionDrawer } from './collection-drawer'
import { NewCollection } from './new-collection'

const emptyState = {
  title: 'No collections yet',
  text: (
    <>
      Group models that can replace each other, and call them as <Code>collection/name</Code>.
    </>
  ),
}

export function CollectionsPage() {
  const query = useQuery(collectionsQuery)
  const { collection: openId } = useSearch({ from: '/home/collections' })
  const navigate = useNavigate({ from: '/collections' })
  const show = (collection: string | undefined) =>
    void navigate({ search: { collection }, resetScroll: false })
  return (
    <>
      <ListPage
        title="Collections"
        about="Several models under one name: a request goes to one of them and falls back to another if it fails."
        query={query}
        empty={emptyState}
        add={{
          label: 'New collection',
          form: (close) => (
            <NewCollection
              onCreated={(id) => {
                close()
                show(id)
              }}
              onCancel={close}
            />
          ),
        }}
      >
        {(collections) => (
          <>
            <CollectionTable collections={collections} page="/collections" showsScope />
            {collections.every(({ scope }) => scope === 'system') && (
              <Empty title={emptyState.title}>{emptyState.text}</Empty>
            )}
          </>
        )}
      </ListPage>
      {query.data && openId !== undefined && (
        <CollectionDrawer
          key={openId}
          collection={query.data.find(({ id }) => id === openId)}
          onClose={() => show(undefined)}
        />
      )}
    </>
  )
}
