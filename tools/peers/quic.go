// A transfer of quic-go over the loopback device, with a log of each end in the directory QLOGDIR.
// Prints the bytes that arrived.
package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
)

const size = 4 << 20

func certificate() tls.Certificate {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	check(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	check(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	config := &quic.Config{Tracer: qlog.DefaultConnectionTracer}
	protocols := []string{"peers"}
	server := &tls.Config{Certificates: []tls.Certificate{certificate()}, NextProtos: protocols}
	listener, err := quic.ListenAddr("127.0.0.1:0", server, config)
	check(err)
	arrived := make(chan int64)
	go func() {
		connection, err := listener.Accept(ctx)
		check(err)
		stream, err := connection.AcceptUniStream(ctx)
		check(err)
		n, err := io.Copy(io.Discard, stream)
		check(err)
		arrived <- n
	}()
	client := &tls.Config{InsecureSkipVerify: true, NextProtos: protocols}
	connection, err := quic.DialAddr(ctx, listener.Addr().String(), client, config)
	check(err)
	stream, err := connection.OpenUniStreamSync(ctx)
	check(err)
	_, err = stream.Write(make([]byte, size))
	check(err)
	check(stream.Close())
	n := <-arrived
	// The last acknowledgements are under way.
	time.Sleep(200 * time.Millisecond)
	connection.CloseWithError(0, "")
	listener.Close()
	// The logs are written when the connections are gone.
	time.Sleep(500 * time.Millisecond)
	fmt.Println(n)
}
