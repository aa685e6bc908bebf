// The yardstick for the HTTP scenario: nothing but node:http, sending the bytes that it was given.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// As an argument, or in a file where it is too long for one.
const [, , text = '', file] = process.argv
const given = JSON.parse(file === undefined ? text : readFileSync(file, 'utf8')) as {
  headers: string[]
  body: string
  encoding?: BufferEncoding
}
const { headers } = given
const body = given.encoding === undefined ? given.body : Buffer.from(given.body, given.encoding)

const server = createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.once('SIGTERM', () => process.exit(0))
