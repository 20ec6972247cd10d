// Compiles only if the types of the operations are those of the API.
import { Client, type DataFeed, type Row } from "../src/index.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(): T | undefined => undefined;

export async function check(client: Client): Promise<void> {
  const feed = await client.getDataFeed({ path: { id: "df_1" } });
  is<Equal<typeof feed, DataFeed>>();
  const rowCount: number | null = feed.rowCount;
  // @ts-expect-error the ID is required
  await client.getDataFeed();
  // @ts-expect-error the type of the feed is one of three
  await client.createDataFeed({ query: { type: "other" }, body: "" });
  await client.createDataFeed({ query: { type: "dataUpload" }, body: new Uint8Array(), contentType: "text/csv" });
  for await (const one of client.listDataFeeds({ query: { limit: 2 } })) is<Equal<typeof one, DataFeed>>();
  const { accepted } = await client.publishEvents({ body: [{ type: "metric.created" }] });
  const id: string | undefined = accepted[0]?.id;
  // @ts-expect-error an event has a type
  await client.publishEvents({ body: { id: "x" } });
  const nothing: void = await client.deleteDataFeed({ path: { id: "df_1" } });
  const response: Response = await client.readDataFeed({ path: { id: "df_1" }, query: { format: "parquet" } });
  const made = await client.createSubscription({ body: { url: "https://x.example", events: ["metric.*"] } });
  if ("errors" in made) made.created.map((one) => one.signingSecret);
  for await (const row of client.rows(feed)) is<Equal<typeof row, Row>>();
  await client.rotateSecret({ path: { id: "sub_1" } });
  void [rowCount, id, nothing, response];
}
